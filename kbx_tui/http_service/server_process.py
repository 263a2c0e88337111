"""What a server knows of its processes at the moment, and what it sets up in its own.

Libraries quote headers as they were sent, and anyone who can connect would write lines; so of them
only errors are kept, in the log file.
"""

from __future__ import annotations

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
    """The index that a process has open."""

    generation: int
    pages: int
    chunks: int
    indexed_at: float | None
    """When a run last changed the text, in seconds since 1970."""

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> IndexState:
        """Return the state that another process sent as JSON. Raises KeyError."""
        names = ("generation", "pages", "chunks", "indexed_at")
        return cls(*(fields[name] for name in names))


class Observer(Protocol):
    """Counts what happens; `ServiceMetrics` is one."""

    def request(self, route: str, status: int, seconds: float) -> None: ...

    def call(self, tool: str, result: str, seconds: float) -> None: ...

    def rejected(self, reason: str) -> None: ...

    def restarted(self) -> None: ...


class _Nobody:
    """Counts nothing: metrics are off."""

    def request(self, route: str, status: int, seconds: float) -> None: ...

    def call(self, tool: str, result: str, seconds: float) -> None: ...

    def rejected(self, reason: str) -> None: ...

    def restarted(self) -> None: ...


@dataclass
class ServiceState:
    """The processes of a server, by name: `worker 0`, `indexer 0`, `server`."""

    observer: Observer = field(default_factory=_Nobody)
    pids: Callable[[], Mapping[str, list[int]]] = dict
    """Returns the processes that run, by name; several may have one."""
    sessions: Callable[[], tuple[int, int]] | None = None
    """Returns how many sessions are open and how many may be; None where there are none."""
    indices: dict[str, IndexState] = field(default_factory=dict)
    """The index that each process has open, by the name of the process."""
    load: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How many requests are in progress and how many calls wait for the engine, by process."""

    def set_index(self, process: str, index: IndexState | None) -> None:
        """Note which index a process has open; None for none."""
        if index is None:
            self.indices.pop(process, None)
        else:
            self.indices[process] = index

    def forget(self, process: str) -> None:
        """Note that a process has ended."""
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
