"""What a process of `kbx mcp --http` needs to know, and how it reports to its terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.http_service.server_log import log_libraries, show_warnings
from kbx_tui.log_file import open_log
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.servers.engine_worker import EngineWorker

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
