"""Processes to kill, forked from one that has imported the program and opened nothing.

So a kill falls into the work, and not into the second in which Python and LanceDB are imported.
LanceDB resets its threads in a forked process; should a fork fail nonetheless, another is made.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

Work = Callable[..., None]
"""What a victim does, a function of a module: called with `ready`, which it calls once it has
opened what it needs, and with the arguments given."""

IMPORTED = (
    "kbx_tui.cli.main",
    "kbx_tui.index.store",  # sets how much LanceDB logs
    "lancedb",
    "lancedb.index",
    "onnxruntime",
    "tokenizers",
)
FORK_WARNING = "ignore:lancedb fork support:RuntimeWarning"
READY_SECONDS = 30.0
WHOLE_SECONDS = 120.0
"""Longest time of work that is not killed."""
FORKS = 5
"""Attempts at a fork."""
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.utime")
"""Audit events of Python before a file is changed, other than `open`."""


@dataclass(frozen=True)
class Kill:
    """When a process is killed: so many seconds after its work began, or at a change of a file."""

    seconds: float = 0.0
    change: int = 0
    """Just before it changes, makes, renames or removes a file for this time; 0: by seconds."""

    def __str__(self) -> str:
        if self.change:
            return f"killed before change {self.change} of a file"
        return f"killed after {self.seconds:.3f} s"


@dataclass(frozen=True)
class Ending:
    was_killed: bool
    seconds: float


def forked() -> ForkServerContext:
    """Return the context whose processes have imported the program already."""
    os.environ["PYTHONWARNINGS"] = FORK_WARNING
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*IMPORTED, "benchmarks.faults.write_kills"])
    return context


def run_forked(work: Work, arguments: Sequence[object], kill: Kill | None) -> Ending:
    """Run work in a forked process up to a moment, or to its end, which must be successful."""
    process = _started(work, arguments, kill.change if kill else 0)
    is_timed = kill is not None and not kill.change
    began = time.perf_counter()
    process.join(kill.seconds if kill and is_timed else WHOLE_SECONDS)
    has_ended = process.exitcode is not None
    process.kill()
    process.join()
    code = process.exitcode
    process.close()
    name = f"{work.__name__} {arguments}"
    if not (has_ended or is_timed):
        raise RuntimeError(f"{name} did not end in {WHOLE_SECONDS:.0f} s")
    return _ending(code, began, kill, name)


def run_command(command: Sequence[str], folder: Path, kill: Kill | None) -> Ending:
    """Run a program in a folder up to a moment, or to its end, which must be successful."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, cwd=folder)
    began = time.perf_counter()
    with suppress(subprocess.TimeoutExpired):
        process.wait(kill.seconds if kill else WHOLE_SECONDS)
    process.kill()
    return _ending(process.wait(), began, kill, " ".join(command))


def _started(work: Work, arguments: Sequence[object], change: int) -> ForkServerProcess:
    context = forked()
    for _ in range(FORKS):
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_work, args=(theirs, change, work, *arguments), daemon=True
        )
        process.start()
        theirs.close()
        try:
            if ours.poll(READY_SECONDS) and ours.recv() == "ready":
                return process
        except EOFError:
            pass
        process.kill()
        process.join()
    raise RuntimeError(f"{work.__name__} {arguments} did not start")


def _work(connection: Connection, change: int, work: Work, *arguments: object) -> None:
    def ready() -> None:
        connection.send("ready")
        if change:
            _end_before(change)

    work(ready, *arguments)


def _end_before(change: int) -> None:
    """Kill this process just before it changes a file for that time."""
    left = change

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in CHANGES or (event == "open" and _is_for_writing(arguments)):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _is_for_writing(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _ending(code: int | None, began: float, kill: Kill | None, name: str) -> Ending:
    was_killed = code == -signal.SIGKILL
    if code and not (kill and was_killed):
        raise RuntimeError(f"{name} ended with {code}")
    return Ending(was_killed, time.perf_counter() - began)
