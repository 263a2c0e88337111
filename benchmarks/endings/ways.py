"""The surfaces, the ways to end them, and how each is started."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path

KBX = [sys.executable, "-m", "kbx_tui"]
FAILING_APP = "from benchmarks.endings.failing_app import run_failing_app as run; run({delay})"
"""Runs the app with a bug that raises after a while."""

REQUESTS = {
    "mcp": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
        b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "endings", "version": "1"}}}\n'
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "kbx_search", '
        b'"arguments": {"query": "who decided about the migration"}}}\n'
    ),
    "jsonl": b'{"id": 1, "method": "kb.search", "params": {"query": "rollback plan"}}\n',
}
FIRST_ANSWER = {"mcp": b'"result"', "jsonl": b'"ok"'}
"""What the output holds once the first request is answered."""
UNASKED = "end of input without a request"
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}
HUNG_UP = (128 + signal.SIGHUP, -signal.SIGHUP)


@dataclass(frozen=True)
class Way:
    """One way to end one surface."""

    surface: str
    ending: str
    moments: tuple[float, float]
    """Earliest and latest moment, in seconds after the start."""

    def __str__(self) -> str:
        return f"{self.surface}: {self.ending}"


WAYS = [
    *(Way("search", ending, (0.0, 1.2)) for ending in ("ctrl+c", "SIGTERM", "SIGHUP", "closed")),
    *(Way("index", ending, (0.0, 2.5)) for ending in ("ctrl+c", "SIGTERM", "SIGHUP", "closed")),
    *(
        Way("app", ending, (0.0, 3.0))
        for ending in ("SIGINT", "SIGTERM", "SIGHUP", "closed", "key", "exception")
    ),
    Way("app", "closed while suspended", (0.0, 2.0)),
    Way("app", "resumed and closed", (0.0, 1.0)),
    *(Way("mcp", ending, (0.0, 2.5)) for ending in (*SIGNALS, "end of input", UNASKED)),
    *(Way("mcp in a terminal", ending, (0.0, 2.5)) for ending in ("ctrl+c", "closed")),
    *(Way("mcp --http", ending, (0.0, 3.5)) for ending in ("ctrl+c", "SIGTERM", "closed")),
    *(Way("jsonl", ending, (0.0, 2.0)) for ending in (*SIGNALS, "end of input")),
]


def command_of(way: Way, base: Path, moment: float) -> list[str]:
    kbx = [*KBX, "--kb", str(base)]
    if way.ending == "exception":
        return [sys.executable, "-c", FAILING_APP.format(delay=moment), "--kb", str(base)]
    arguments = {
        "app": [],
        "search": ["search", "what did alice decide about the migration"],
        "index": ["index"],
        "mcp in a terminal": ["mcp"],
        "mcp --http": ["mcp", "--http", "--port", "0"],
    }
    return [*kbx, *arguments[way.surface]]
