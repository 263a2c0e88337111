"""Which knowledge bases there are to open, and how one comes about. Calls no widget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from kbx_tui.safe_text import visible
from kbx_tui.tui.engine.engine import Engine


class Bases(Protocol):
    """The door to opening and making knowledge bases."""

    def open(self, root: Path) -> Engine:
        """Open the base at `root`; called on another thread than the loop's."""
        ...

    def demo(self) -> Path:
        """Return the root of the demo, put in place if need be."""
        ...

    def existing(self, folder: str) -> Path:
        """Return the root of the base that a folder is. Raises NotFound when it holds nothing."""
        ...

    def new(self, folder: str) -> Path:
        """Make a new base in a folder and return its root. Raises KbxError."""
        ...


class LocalBases:
    """Folders on this machine."""

    def open(self, root: Path) -> Engine:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(root)

    def demo(self) -> Path:
        from kbx_tui.demo.install import install_demo

        return install_demo()

    def existing(self, folder: str) -> Path:
        from kbx_tui.base_discovery import find_base

        return find_base(Path(folder).expanduser())

    def new(self, folder: str) -> Path:
        from kbx_tui.editing.new_base import start_base

        return start_base(Path(folder).expanduser())


def is_folder(path: str) -> bool:
    """Tell whether a folder is there and answers."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def folders_below(typed: str, most: int = 50) -> Sequence[str]:
    """Return folders that continue a path as it is typed, `~` kept, each with a slash."""
    shown = Path(typed) if typed else Path()
    ends = typed.endswith("/") or not typed
    above, start = (shown, "") if ends else (shown.parent, shown.name)
    try:
        names = sorted(
            entry.name
            for entry in above.expanduser().iterdir()
            if entry.name.startswith(start)
            and entry.is_dir()
            and (start.startswith(".") or not entry.name.startswith("."))
            and visible(entry.name) == entry.name
        )
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a user that is not there
        return ()
    prefix = typed if ends else typed[: len(typed) - len(start)]
    return [f"{prefix}{name}/" for name in names[:most]]
