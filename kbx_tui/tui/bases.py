"""Opens and creates knowledge bases, and completes the names of folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


class Bases:
    """Knowledge bases on this machine. Methods do I/O: call them off the event loop."""

    def open(self, root: Path) -> KnowledgeBase:
        """Open the base at `root`."""
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(root)

    def demo(self) -> Path:
        """Return the root of the demo, installed if need be."""
        from kbx_tui.demo.install import install_demo

        return install_demo()

    def existing(self, folder: str) -> Path:
        """Return the root of the base in a folder. Raises NotFound without markdown in it."""
        from kbx_tui.base_discovery import find_base

        return find_base(Path(folder).expanduser())

    def new(self, folder: str) -> Path:
        """Create a base in a folder and return its root. Raises KbxError."""
        from kbx_tui.editing.new_base import create_base

        return create_base(Path(folder).expanduser())


def is_folder(path: str) -> bool:
    """Return whether a path is a folder; False for one that cannot be read."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def complete_folder(typed: str, limit: int = 50) -> Sequence[str]:
    """Return folders that continue a path, each with a slash; `~` is kept."""
    path = Path(typed) if typed else Path()
    is_complete = typed.endswith("/") or not typed
    parent, prefix = (path, "") if is_complete else (path.parent, path.name)
    try:
        names = sorted(
            entry.name
            for entry in parent.expanduser().iterdir()
            if entry.name.startswith(prefix)
            and entry.is_dir()
            and (prefix.startswith(".") or not entry.name.startswith("."))
            and safe_line(entry.name) == entry.name
        )
    except (OSError, RuntimeError, ValueError):  # RuntimeError: `~name` of an unknown user
        return ()
    start = typed if is_complete else typed[: len(typed) - len(prefix)]
    return [f"{start}{name}/" for name in names[:limit]]
