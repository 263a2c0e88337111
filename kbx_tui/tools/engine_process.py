"""A process with an engine: what it needs to know, and what it reports to its terminal, to the
process that started it, or to its own metrics.

    python -P -m kbx_tui.tools.engine_process BASE [--trust]

keeps an index in step with the files for `kbx web` and prints its reports, until stdin ends.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbx_tui.ending import end_soon, install, leave
from kbx_tui.errors import KbxError
from kbx_tui.http_service.server_process import log_libraries, show_warnings
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.user_files import open_log

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


MAX_REQUESTS = 16


@dataclass(frozen=True, slots=True)
class McpOptions:
    """Plain values, as they are sent to other processes as JSON."""

    root: str
    trust: bool = False
    allow_writes: bool = False
    warm: bool = True
    token: str | None = None
    max_requests: int = MAX_REQUESTS
    keeps_index: bool = True

    def engine(self) -> EngineWorker:
        return EngineWorker(
            self._open, allow_writes=self.allow_writes, background=self.keeps_index, warms=self.warm
        )

    def _open(self) -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(Path(self.root), notice=say, trust=self.trust)


def start_log() -> None:
    open_log()
    log_libraries()
    show_warnings(say)


def say(text: str) -> None:
    with suppress(OSError):
        print(f"kbx: {safe_line(text)}", file=sys.stderr, flush=True)


Report = Callable[..., object]
"""Receives the kind of a report and its values: `load` (requests in progress, calls that wait),
`request` (status, seconds), `call` (tool, `ok` or type of the failure, seconds), `index` (the
fields of IndexState, None for none)."""


def sent_as_lines(send: Callable[[bytes], object]) -> Report:
    def report(kind: str, *values: Any) -> None:
        send(json.dumps({kind: values}).encode() + b"\n")

    return report


log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Time between two looks for a newer index, which is then open before a call needs it."""


async def report_index(engine: EngineWorker, report: Report) -> None:
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
            report("index", None if summary is None else asdict(summary))
        await asyncio.sleep(LOOK_SECONDS)


def main() -> None:
    install()
    root, *options = sys.argv[1:]
    engine = McpOptions(root, trust="--trust" in options).engine()
    asyncio.run(_run(engine))
    end_soon(0)
    engine.close()
    leave(0)


async def _run(engine: EngineWorker) -> None:
    def send(report: bytes) -> None:
        with suppress(OSError):
            os.write(1, report)

    engine.begin()
    reporting = asyncio.create_task(report_index(engine, sent_as_lines(send)))
    with suppress(OSError):
        while await asyncio.to_thread(os.read, 0, 1_000):
            pass
    reporting.cancel()


if __name__ == "__main__":
    main()
