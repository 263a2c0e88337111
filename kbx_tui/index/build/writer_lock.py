"""One writer at a time. The lock dies with its process, also with kill -9."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from kbx_tui.editing.state import state_folder as knowledge_state
from kbx_tui.errors import IndexFault, IndexLocked, WriteFault

POLL_SECONDS = 0.2
OWNER = "writer.json"
"""Beside the lock: who holds it, for people."""


def state_folder(root: Path) -> Path:
    """Return `<root>/.kbx`, made if needed, with a `.gitignore` of its own.

    Raises IndexFault when it cannot be made.
    """
    try:
        return knowledge_state.state_folder(root)
    except WriteFault as error:
        raise IndexFault(str(error)) from error


@contextmanager
def writer_lock(
    root: Path, *, wait: bool = True, on_wait: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the right to write the index of `root`.

    While another process holds it: with `wait`, tell `on_wait` once who it is and wait; else
    raise IndexLocked.
    """
    folder = state_folder(root)
    lock, owner = FileLock(folder / "writer.lock"), folder / OWNER
    try:
        lock.acquire(timeout=0)
    except Timeout:
        who = _who(owner)
        if not wait:
            raise IndexLocked(f"{who} is indexing {root}: wait until it has finished") from None
        if on_wait:
            on_wait(f"{who} is indexing {root}; waiting")
        lock.acquire(poll_interval=POLL_SECONDS)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        _sign(owner)
        yield
    finally:
        with suppress(OSError):
            owner.unlink(missing_ok=True)
        lock.release()


def _sign(owner: Path) -> None:
    known = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
    try:
        owner.write_text(json.dumps(known), encoding="utf-8")
    except OSError as error:
        raise _unwritable(owner, error) from error


def _unwritable(path: Path, error: OSError) -> IndexFault:
    why = error.strerror or str(error)
    return IndexFault(f"cannot write {path} ({why}): free space or rights, or copy the base")


def is_being_written(root: Path) -> bool:
    """Tell whether a process seems to be writing the index; after a kill -9 it may seem so."""
    return (root / ".kbx" / OWNER).exists()


def _who(owner: Path) -> str:
    try:
        known = json.loads(owner.read_text(encoding="utf-8"))
        since = time.strftime("%H:%M", time.localtime(known["since"]))
        return f"process {known['pid']} on {known['host']} (since {since})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
