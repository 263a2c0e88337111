"""What a process with an engine needs to know, and what it reports: to its terminal, to the process
that started it, or to its own metrics.

Between processes a report is one line of JSON: `{"load": [3, 2]}`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kbx_tui.errors import KbxError
from kbx_tui.http_service.server_process import (
    IndexState,
    ServiceState,
    log_libraries,
    show_warnings,
)
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.user_files import open_log

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


MAX_REQUESTS = 16
"""Default number of requests that one process takes at a time, those that wait included."""


@dataclass(frozen=True, slots=True)
class McpOptions:
    """Plain values, as they are sent to other processes as JSON."""

    root: str
    trust: bool = False
    allow_writes: bool = False
    warm: bool = True
    token: str | None = None
    """What clients must send, if anything."""
    max_requests: int = MAX_REQUESTS
    keeps_index: bool = True
    """Whether the process keeps the index in step with the files."""

    def engine(self) -> EngineWorker:
        """Return the engine of the process, which opens nothing yet."""
        return EngineWorker(
            self._open, allow_writes=self.allow_writes, background=self.keeps_index, warms=self.warm
        )

    def _open(self) -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(Path(self.root), notice=say, trust=self.trust)


def start_log() -> None:
    """Open the log file of a process; warnings are printed, too."""
    open_log()
    log_libraries()
    show_warnings(say)


def say(text: str) -> None:
    """Print a one-line message on stderr."""
    with suppress(OSError):
        print(f"kbx: {safe_line(text)}", file=sys.stderr, flush=True)


ROUTE = "mcp"


class Reports(Protocol):
    """Receives what happens."""

    def load(self, requests: int, waiting: int) -> object:
        """So many requests are in progress, and so many calls wait for the engine."""

    def request(self, status: int, seconds: float) -> object:
        """A request was answered; status 0 for one whose client left before."""

    def call(self, tool: str, result: str, seconds: float) -> object:
        """A tool was called; `result` is `ok` or the type of the failure."""

    def index(self, fields: dict[str, Any] | None) -> object:
        """The index that is open, with the fields of IndexState; None for none."""


class _NoReports:
    def load(self, requests: int, waiting: int) -> None: ...

    def request(self, status: int, seconds: float) -> None: ...

    def call(self, tool: str, result: str, seconds: float) -> None: ...

    def index(self, fields: dict[str, Any] | None) -> None: ...


NO_REPORTS = _NoReports()


@dataclass(frozen=True, slots=True)
class StateReports:
    """Notes reports of one process in the state of the server."""

    state: ServiceState
    process: str

    def load(self, requests: int, waiting: int) -> None:
        self.state.load[self.process] = requests, waiting

    def request(self, status: int, seconds: float) -> None:
        self.state.observer.request(ROUTE, status, seconds)
        if status == 503:
            self.state.observer.rejected("requests")

    def call(self, tool: str, result: str, seconds: float) -> None:
        self.state.observer.call(tool, result, seconds)

    def index(self, fields: dict[str, Any] | None) -> None:
        self.state.set_index(self.process, None if fields is None else IndexState(**fields))

    def receive(self, report: object) -> None:
        """Note a report that another process sent, parsed."""
        match report:
            case {"load": [requests, waiting]}:
                self.load(requests, waiting)
            case {"request": [status, seconds]}:
                self.request(status, seconds)
            case {"call": [tool, result, seconds]}:
                self.call(tool, result, seconds)
            case {"index": fields}:
                self.index(fields)


@dataclass(frozen=True, slots=True)
class SentReports:
    """Sends reports as lines."""

    send: Any
    """Takes the bytes of a line."""

    def load(self, requests: int, waiting: int) -> None:
        self._send("load", [requests, waiting])

    def request(self, status: int, seconds: float) -> None:
        self._send("request", [status, seconds])

    def call(self, tool: str, result: str, seconds: float) -> None:
        self._send("call", [tool, result, seconds])

    def index(self, fields: dict[str, Any] | None) -> None:
        self._send("index", fields)

    def _send(self, kind: str, values: Any) -> None:
        self.send(json.dumps({kind: values}).encode() + b"\n")


log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Time between two looks for a newer index, which is then open before a call needs it."""


async def report_index(engine: EngineWorker, reports: Reports) -> None:
    """Report the index that is open whenever it is another one; runs until it is cancelled."""
    before = None
    while True:
        try:
            summary = await asyncio.wrap_future(engine.summary())
        except KbxError as error:
            log.info("the index cannot be read: %s", error)
            summary = None
        if summary != before:
            before = summary
            reports.index(None if summary is None else asdict(summary))
        await asyncio.sleep(LOOK_SECONDS)
