"""Which folder is a knowledge base worth opening: one with something in it, and no whole disk."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import NotFound

SAMPLE = "or run `kbx demo` to look around in a sample"


def find_base(given: Path | None) -> Path:
    """Return the root of the base at `given`, else of the nearest one upward.

    Raises NotFound, also when there is nothing to search in it, and ConfigError.
    """
    from kbx_tui.knowledge.vault import find_root

    root = find_root(given=given)
    if given is None:
        _refuse_whole_disk(root)
    _require_documents(root)
    return root


def _refuse_whole_disk(root: Path) -> None:
    """Indexing all of a home folder takes hours, and nobody who types `kbx` there means that."""
    marked = (root / "kbx.toml").is_file() or (root / "memory").is_dir()
    if root in (Path.home(), Path(root.anchor)) and not marked:
        raise NotFound(
            f"{root} is no knowledge base: go to a folder of markdown, name one with --kb, {SAMPLE}"
        )


def _require_documents(root: Path) -> None:
    from kbx_tui.config import load_settings
    from kbx_tui.knowledge.vault import walk

    index = load_settings(root).index
    if index.uri or (root / ".kbx" / "index").is_dir() or walk(root, index.exclude).files:
        return
    raise NotFound(
        f"no markdown in {root}: go to a folder of markdown, name one with --kb, {SAMPLE}"
    )
