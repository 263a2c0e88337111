"""The lock of one state file in `.kbx`: what is read under it still holds when it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kbx_tui.editing.atomic_write import write_fault
from kbx_tui.editing.state.state_folder import state_folder
from kbx_tui.errors import WriteFault


@contextmanager
def state_lock(root: Path, lock_name: str, file: Path, seconds: float) -> Iterator[None]:
    """Hold the lock `lock_name` of a file, against other processes.

    Raises WriteFault when it cannot be had, at the latest after `seconds`.
    """
    from filelock import FileLock, Timeout  # here, as the first paint of the app waits for imports

    lock_file = state_folder(root) / lock_name
    lock = FileLock(lock_file)
    try:
        lock.acquire(timeout=seconds)
    except Timeout as error:
        raise WriteFault(
            f"another process is writing {file}; nothing was changed, try again"
        ) from error
    except OSError as error:
        raise write_fault(lock_file, error) from error
    try:
        yield
    finally:
        lock.release()
