"""A lock that lets one process at a time write the index; released when the process dies."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from kbx_tui.editing.state.state_folder import state_folder
from kbx_tui.errors import IndexFault, IndexLocked, WriteFault

POLL_SECONDS = 0.2
OWNER = "writer.json"
"""File beside the lock that names its holder, for messages."""


@contextmanager
def writer_lock(
    root: Path, *, wait: bool = True, on_wait: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the writer lock of the index of `root`.

    If another process holds it, with `wait` call `on_wait` once with a message that names it, and
    wait; else raise IndexLocked. Raises IndexFault when `.kbx` cannot be written.
    """
    try:
        folder = state_folder(root)
    except WriteFault as error:
        raise IndexFault(str(error)) from error
    lock, owner = FileLock(folder / "writer.lock"), folder / OWNER
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = f"{_holder(owner)} is indexing {root}"
        if not wait:
            raise IndexLocked(f"{message}: wait until it has finished") from None
        if on_wait:
            on_wait(f"{message}; waiting")
        lock.acquire(poll_interval=POLL_SECONDS)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        holder = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
        try:
            owner.write_text(json.dumps(holder), encoding="utf-8")
        except OSError as error:
            raise _unwritable(owner, error) from error
        yield
    finally:
        with suppress(OSError):
            owner.unlink(missing_ok=True)
        lock.release()


def _unwritable(path: Path, error: OSError) -> IndexFault:
    reason = error.strerror or str(error)
    return IndexFault(
        f"cannot write {path} ({reason}): free space, change permissions, or copy the base"
    )


def is_being_written(root: Path) -> bool:
    """Return whether a process is writing the index. Can be wrongly True after a kill -9."""
    return (root / ".kbx" / OWNER).exists()


def _holder(owner: Path) -> str:
    try:
        holder = json.loads(owner.read_text(encoding="utf-8"))
        since = time.strftime("%H:%M", time.localtime(holder["since"]))
        return f"process {holder['pid']} on {holder['host']} (since {since})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
