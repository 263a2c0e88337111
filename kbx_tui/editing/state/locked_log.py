"""A file of lines in `.kbx` that several processes append to, one at a time, under a lock."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kbx_tui.editing.atomic_write import write_fault
from kbx_tui.editing.state.append_lines import append_lines
from kbx_tui.editing.state.state_folder import state_folder
from kbx_tui.ending import unfinished_write
from kbx_tui.errors import WriteFault

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
        lock_file = state_folder(self._root) / self._lock_name
        lock = FileLock(lock_file)
        try:
            lock.acquire(timeout=LOCK_SECONDS)
        except Timeout as error:
            raise WriteFault(
                f"another process is writing {self.file}; nothing was written, try again"
            ) from error
        except OSError as error:
            raise write_fault(lock_file, error) from error
        try:
            with unfinished_write():
                yield
        finally:
            lock.release()

    def append(self, lines: Sequence[bytes]) -> None:
        """Append lines in one write, for a caller that holds the lock. Raises WriteFault."""
        if lines:
            try:
                append_lines(self.file, lines, synced=True)
            except OSError as error:
                raise write_fault(self.file, error) from error
