"""A file of lines in `.kbx` that several processes append to, one at a time, under a lock."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kbx_tui.editing.atomic_write import write_fault
from kbx_tui.editing.state.append_lines import append_lines
from kbx_tui.editing.state.state_lock import state_lock
from kbx_tui.ending import unfinished_write

LOCK_SECONDS = 10.0
"""Longest wait for another process that writes, which takes milliseconds."""


class LockedLog:
    """The file and its lock. Lines are flushed to disk, so that none is lost."""

    def __init__(self, root: Path, file: Path, lock_name: str) -> None:
        """`file` is relative to the root, and `lock_name` names a file beside it."""
        self._root, self._lock_name = root, lock_name
        self.file = root / file

    def version(self) -> tuple[int, ...] | None:
        """Return what differs once the file has changed; None without a file."""
        try:
            status = os.lstat(self.file)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, so that what is read still holds when it is written.

        Raises WriteFault when it cannot be had.
        """
        with state_lock(self._root, self._lock_name, self.file, LOCK_SECONDS), unfinished_write():
            yield

    def append(self, lines: Sequence[bytes]) -> None:
        """Append lines in one write, for a caller that holds the lock. Raises WriteFault."""
        if lines:
            try:
                append_lines(self.file, lines, synced=True)
            except OSError as error:
                raise write_fault(self.file, error) from error
