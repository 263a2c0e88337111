"""The current state of a server's processes, and the setup of its own process.

Only errors of libraries are logged: their other messages quote headers as sent, so anyone who can
connect could write lines to the log file.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
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
    """When an index run last changed the text, in seconds since 1970."""


class Observer:
    """Counts events for metrics; this base class, used without metrics, counts nothing."""

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an HTTP request."""

    def call(self, tool: str, result: str, seconds: float) -> None:
        """Count a call of a tool."""

    def rejected(self, reason: str) -> None:
        """Count a request or session refused because a limit was reached."""

    def restarted(self) -> None:
        """Count the replacement of a process."""


@dataclass
class ServiceState:
    """The processes of a server, by name: `worker 0`, `indexer 0`, `server`."""

    observer: Observer = field(default_factory=Observer)
    pids: Callable[[], Mapping[str, list[int]]] = dict
    """Returns the ids of running processes by name; a name may have several."""
    sessions: Callable[[], tuple[int, int]] | None = None
    """Returns how many sessions are open and the limit; None for a server without sessions."""
    indices: dict[str, IndexState] = field(default_factory=dict)
    """The index that each process has open, by the name of the process."""
    load: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Number of active requests and of calls waiting for the engine, by process."""

    def note(self, process: str, kind: str, *values: Any) -> None:
        """Record a process's report; kinds and values as in `tools.engine_process.Report`."""
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
        """Return whether searches can be answered, and the details as JSON values."""
        generations = {name: index.generation for name, index in sorted(self.indices.items())}
        answer: dict[str, Any] = {
            "ready": bool(generations),
            "generation": max(generations.values(), default=None),
            "processes": len(self.pids()),
            "generations": generations,
        }
        if not generations:
            answer["reason"] = "no process has an index open yet; `kbx index` makes one"
        return answer["ready"], answer


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Memory, in bytes, and processor time that a process uses."""

    private_bytes: int
    """Memory that it has written and does not share; pages of mapped files do not count."""
    proportional_bytes: int
    """All its memory; shared pages are divided equally among the processes that share them."""
    cpu_seconds: float
    """Processor time of all its threads since it started."""


def process_usage(pid: int) -> ProcessUsage | None:
    """Return a process's usage; None if it has ended, or on a system without /proc."""
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
    """Send errors of libraries, with tracebacks, to the log file once it is open."""
    for name in LIBRARIES:
        library = logging.getLogger(name)
        library.parent = logger()
        library.setLevel(logging.ERROR)


def show_warnings(say: Callable[[str], object]) -> None:
    """Call `say` with each warning and error of this program, without its traceback."""

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name.partition(".")[0] == logger().name:  # leaves out records of libraries
                say(record.getMessage())

    logger().addHandler(Lines(logging.WARNING))


async def start_child(*command: str, pass_fds: Sequence[int] = ()) -> asyncio.subprocess.Process:
    """Start a process that reports on stdout, and ends when its stdin is closed. Raises OSError.

    That happens even if this process is killed. Ctrl+C is for this process.
    """
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        pass_fds=pass_fds,
        start_new_session=True,
    )


class Process(Protocol):
    """The methods needed to end a process, as in `asyncio.subprocess.Process`."""

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    async def wait(self) -> int: ...


async def end_process(process: Process, seconds: float) -> int:
    """Ask a process to end; return its exit code as `exit_code` does."""
    with suppress(ProcessLookupError):
        process.terminate()
    return await exit_code(process, seconds)


async def exit_code(process: Process, seconds: float) -> int:
    """Return the exit code of a process that is about to end; kill it after `seconds`.

    Sends no signal before: that could collect the exit code, and asyncio would then lack it.
    """
    try:
        return await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()
