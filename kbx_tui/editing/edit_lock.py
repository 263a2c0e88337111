"""One process at a time writes the files of a base. The lock dies with its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kbx_tui.editing.atomic_write import not_written
from kbx_tui.editing.state.state_folder import state_folder
from kbx_tui.errors import WriteFault

LOCK_SECONDS = 60.0
"""Longest wait for another process; a write takes milliseconds."""


@contextmanager
def edit_lock(root: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the right to write files of a base: one process at a time.

    Raises Timeout for 0 seconds, else WriteFault, while another process writes.
    """
    folder = state_folder(root)
    lock = FileLock(folder / "edit.lock", is_singleton=True)  # whoever holds it may ask again
    try:
        lock.acquire(timeout=seconds)
    except Timeout as error:
        if not seconds:
            raise
        raise WriteFault(f"another process is writing in {root}; try again") from error
    except OSError as error:
        raise not_written(folder / "edit.lock", error) from error
    try:
        yield
    finally:
        lock.release()
