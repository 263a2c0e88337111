"""Knowledge bases that are open for reading only: their paths refuse to be written.

The root of such a base is a `ReadOnlyPath`, and so is every path joined to it. What writes in a
base calls `require_writable` first; all of it goes through a few functions: those that make the
state folder, replace a file or append to one.
"""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import ReadOnly

_Path: type[Path] = type(Path())  # `Path` itself cannot be a base class before Python 3.12


class ReadOnlyPath(_Path):  # type: ignore[misc, valid-type]
    """A path in a base that is open for reading only."""


def is_read_only(path: Path) -> bool:
    """Return whether a path is in a base that is open for reading only."""
    return isinstance(path, ReadOnlyPath)


def require_writable(path: Path) -> None:
    """Raise ReadOnly for a path in a base that is open for reading only."""
    if is_read_only(path):
        raise ReadOnly("the knowledge base is open for reading only, so nothing is written")
