"""Which knowledge base a command works on. Loads the engine only when asked to open it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.cli.running import say, session
from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

SAMPLE = "or run `kbx demo` to look around in a sample"


def open_kb() -> KnowledgeBase:
    """Open the knowledge base the options name.

    Raises NotFound, also when there is nothing to search in it, and ConfigError.
    """
    from kbx_tui.api import KnowledgeBase

    return KnowledgeBase(find_base(), notice=say)


def find_base() -> Path:
    """Return the root of the knowledge base the options name. Raises NotFound as `open_kb`."""
    from kbx_tui.config import knowledge_base_from_environment
    from kbx_tui.knowledge.vault import find_root

    given = session().kb or knowledge_base_from_environment()
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
