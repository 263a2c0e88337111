"""The edit lock: one process at a time writes the files of a base.

The operating system releases the lock when its process dies.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kbx_tui.editing.atomic_write import write_fault
from kbx_tui.editing.state.state_folder import state_folder
from kbx_tui.ending import unfinished_write
from kbx_tui.errors import WriteFault

LOCK_SECONDS = 60.0
"""Longest wait for another process; a write takes a fraction of a second."""


@contextmanager
def edit_lock(root: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the edit lock of a base, which is reentrant.

    Raises WriteFault after waiting for another process, or Timeout at once if `seconds` is 0.
    """
    folder = state_folder(root)
    lock = FileLock(folder / "edit.lock", is_singleton=True)  # a singleton is reentrant
    try:
        lock.acquire(timeout=seconds)
    except Timeout as error:
        if not seconds:
            raise
        raise WriteFault(f"another process is writing in {root}; try again") from error
    except OSError as error:
        raise write_fault(folder / "edit.lock", error) from error
    try:
        with unfinished_write():
            yield
    finally:
        lock.release()
