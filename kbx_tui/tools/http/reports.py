"""What a process that answers MCP reports: to the process that started it, or to its own metrics.

Between processes a report is one line of JSON: `{"load": [3, 2]}`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from kbx_tui.http_service.service_state import IndexState, ServiceState

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
