"""What a server knows of its processes at the moment, and what it sets up in its own.

Libraries quote headers as they were sent, and anyone who can connect would write lines; so of them
only errors are kept, in the log file.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kbx_tui.user_files import logger


@dataclass(frozen=True, slots=True)
class IndexState:
    generation: int
    pages: int
    chunks: int
    indexed_at: float | None
    """When a run last changed the text, in seconds since 1970."""


class Observer:
    """Counts what happens; this one nothing, as metrics are off."""

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an HTTP request."""

    def call(self, tool: str, result: str, seconds: float) -> None:
        """Count a call of a tool."""

    def rejected(self, reason: str) -> None:
        """Count what was refused because a limit was reached."""

    def restarted(self) -> None:
        """Count the replacement of a process."""


@dataclass
class ServiceState:
    """The processes of a server, by name: `worker 0`, `indexer 0`, `server`."""

    observer: Observer = field(default_factory=Observer)
    pids: Callable[[], Mapping[str, list[int]]] = dict
    """Returns the processes that run, by name; several may have one."""
    sessions: Callable[[], tuple[int, int]] | None = None
    """Returns how many sessions are open and how many may be; None where there are none."""
    indices: dict[str, IndexState] = field(default_factory=dict)
    """The index that each process has open, by the name of the process."""
    load: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How many requests are in progress and how many calls wait for the engine, by process."""

    def note(self, process: str, kind: str, *values: Any) -> None:
        """Note a report of a process; kinds and values as in `tools.engine_process.Report`."""
        match kind, values:
            case "load", (requests, waiting):
                self.load[process] = requests, waiting
            case "request", (status, seconds):
                self.observer.request("mcp", status, seconds)
                if status == 503:
                    self.observer.rejected("requests")
            case "call", (tool, result, seconds):
                self.observer.call(tool, result, seconds)
            case "index", (None,):
                self.indices.pop(process, None)
            case "index", (fields,):
                self.indices[process] = IndexState(**fields)

    def forget(self, process: str) -> None:
        self.indices.pop(process, None)
        self.load.pop(process, None)

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Return whether searches are answered, and what is known of it as JSON."""
        processes = len(self.pids())
        generations = {name: index.generation for name, index in sorted(self.indices.items())}
        ready = bool(generations)
        answer = {
            "ready": ready,
            "generation": max(generations.values(), default=None),
            "processes": processes,
            "generations": generations,
        }
        return ready, answer if ready else {
            **answer,
            "reason": "no process has an index open yet; `kbx index` makes one",
        }


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process uses, memory in bytes."""

    private_bytes: int
    """What it has written and shares with no process; pages of mapped files are not among it."""
    proportional_bytes: int
    """All its memory, of what it shares with other processes its equal part."""
    cpu_seconds: float
    """Processor time of all its threads since it started."""


def process_usage(pid: int) -> ProcessUsage | None:
    """Return what a process uses; None if it has ended, or where the system does not say."""
    folder = Path("/proc", str(pid))
    try:
        fields = dict(
            line.split(":", 1)
            for line in (folder / "smaps_rollup").read_text().splitlines()
            if ":" in line and line.endswith("kB")
        )
        times = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    sizes = {name: 1024 * int(text.split()[0]) for name, text in fields.items()}
    private = sizes.get("Private_Dirty", 0)
    ticks = int(times[11]) + int(times[12])
    return ProcessUsage(private, sizes.get("Pss", 0), ticks / os.sysconf("SC_CLK_TCK"))


LIBRARIES = ("aiohttp", "asyncio", "mcp", "uvicorn")


def log_libraries() -> None:
    """Write errors of the libraries, with their tracebacks, to the log file, once that is open."""
    for name in LIBRARIES:
        library = logging.getLogger(name)
        library.parent = logger()
        library.setLevel(logging.ERROR)


def show_warnings(say: Callable[[str], object]) -> None:
    """Call `say` with each warning and error of this program, without its traceback."""
    logger().addHandler(_Lines(say))


class _Lines(logging.Handler):
    def __init__(self, say: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == logger().name:  # not of a library
            self._say(record.getMessage())


OPEN_FILES = 4_096
"""Enough for the connections that the limits allow; some systems start programs with 256."""


def allow_connections() -> None:
    """Raise the limit of this process, and of those that it starts, as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= OPEN_FILES:
        return
    enough = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    with suppress(OSError, ValueError):  # beyond what the system allows any process
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def limit_memory(most: int) -> None:
    """Limit the private data of this process, to which mapped files do not count."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


class Process(Protocol):
    """What is needed of a process to end it; the methods as those of asyncio."""

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    async def wait(self) -> int: ...


async def end_process(process: Process, seconds: float) -> int:
    """Ask a process to end, and return its exit code as `exit_code` does."""
    with suppress(ProcessLookupError):
        process.terminate()
    return await exit_code(process, seconds)


async def exit_code(process: Process, seconds: float) -> int:
    """Return the exit code of a process that is about to end; kill it if it takes longer.

    Sending it a signal before would collect the code in place of asyncio, which then has none.
    """
    try:
        return await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()
