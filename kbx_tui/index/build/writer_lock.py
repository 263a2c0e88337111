"""A lock that lets one process at a time write the index; released when the process dies."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from kbx_tui.editing.state_files import replace_state_file, state_folder, unwritable
from kbx_tui.errors import IndexFault, IndexLocked, WriteFault
from kbx_tui.removal import remove_state_file
from kbx_tui.state_file import decode_json, is_read_only, read_regular_file

POLL_SECONDS = 0.2
LOCK = "writer.lock"
OWNER = "writer.json"


@contextmanager
def writer_lock(
    root: Path,
    *,
    wait: bool = True,
    on_wait: Callable[[str], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Hold the writer lock of the index of `root`.

    If another process holds it: with `wait`, call `on_wait` once with a message that names that
    process, and wait until the lock is free or `cancelled` returns True. Raises IndexLocked if
    cancelled, or at once without `wait`, and IndexFault if `.kbx` cannot be written.
    """
    try:
        folder = state_folder(root)
    except WriteFault as error:
        raise IndexFault(str(error)) from error
    lock, owner = FileLock(folder / LOCK), folder / OWNER
    try:
        is_free = _acquired(lock)
    except OSError as error:
        raise IndexFault(str(unwritable(folder / LOCK, error))) from error
    if not is_free:
        message = f"{_holder(owner)} is indexing {root}"
        if not wait:
            raise IndexLocked(f"{message}: wait until it has finished")
        if on_wait:
            on_wait(f"{message}; waiting")
        while not _acquired(lock, POLL_SECONDS):
            if cancelled():
                raise IndexLocked(f"{message}: run again when it has finished")
    try:
        holder = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
        try:
            replace_state_file(owner, json.dumps(holder).encode())
        except WriteFault as error:
            if getattr(error.__cause__, "errno", None) != ENOSPC:  # a run may free disk space
                raise IndexFault(str(error)) from error
        yield
    finally:
        with suppress(OSError):
            remove_state_file(owner)
        lock.release()


def is_being_written(root: Path) -> bool:
    """Return whether a process is writing the index; clean up after a killed one."""
    owner = root / ".kbx" / OWNER
    if not owner.exists():
        return False
    if is_read_only(root):
        return True  # it may have ended, but only taking the lock would show that
    lock = FileLock(owner.with_name(LOCK))
    try:
        if not _acquired(lock):
            return True
    except OSError:  # this user may not write the base
        return False
    try:
        with suppress(OSError):
            remove_state_file(owner)
    finally:
        lock.release()
    return False


def _acquired(lock: FileLock, seconds: float = 0.0) -> bool:
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        return False
    return True


def _holder(owner: Path) -> str:
    try:
        holder = decode_json(read_regular_file(owner), dict[str, Any])
        since = time.strftime("%H:%M", time.localtime(holder["since"]))
        return f"process {holder['pid']} on {holder['host']} (since {since})"
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return "another process"
