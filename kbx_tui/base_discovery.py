"""Finds the knowledge base to open; refuses empty folders, home folders and whole disks."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import NotFound

ADVICE = "change to a folder of markdown, name one with --kb, or run `kbx demo` to explore a sample"


def find_base(folder: Path | None, *, may_be_empty: bool = False) -> Path:
    """Return the root of the base at `folder`, or of the nearest one from here upwards.

    With `may_be_empty`, one that is named, or marked by kbx.toml or memory/, needs no markdown.
    Raises NotFound if there is none or it has no markdown, ConfigError for invalid settings, and
    either ConfigError or IndexFault when its index may not be where it is configured.
    """
    from kbx_tui.index.files.excluded_files import excluded_files
    from kbx_tui.index.index_folder import index_uri
    from kbx_tui.knowledge.vault import find_root, list_files
    from kbx_tui.settings_file import load_settings

    root = find_root(explicit=folder)
    is_marked = (root / "kbx.toml").is_file() or (root / "memory").is_dir()
    if folder is None and not is_marked and root in (Path.home(), Path(root.anchor)):
        raise NotFound(f"{root} is not a knowledge base: {ADVICE}")  # would take hours to index
    settings = load_settings(root)
    index_uri(root, settings)
    index = settings.index
    if may_be_empty and (folder is not None or is_marked):
        return root
    if (
        index.uri
        or (root / ".kbx" / "index").is_dir()
        or list_files(root, excluded_files(root, index), limit=1)
    ):
        return root
    raise NotFound(f"no markdown in {root}: {ADVICE}")
