"""A program that keeps an index up to date, and what a process that runs an engine reports.

    python -P -m kbx_tui.tools.engine_process BASE [--trust]

keeps the index of a base up to date for `kbx web` and prints its reports until stdin is closed.
Other processes report to their terminal, their parent or their own metrics.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from kbx_tui.ending import end_soon, install, leave
from kbx_tui.errors import KbxError
from kbx_tui.http_service.server_process import log_libraries, show_warnings
from kbx_tui.tools.engine_worker import EngineWorker, McpOptions, say
from kbx_tui.user_files import open_log


def start_log() -> None:
    open_log()
    log_libraries()
    show_warnings(say)


Report = Callable[..., object]
"""Receives the kind of a report and its values: `load` (requests in progress, waiting calls),
`request` (status, seconds), `call` (tool, `ok` or the type of failure, seconds), `index` (the
fields of IndexState, or None without an index), `alive`, which says nothing more."""


def sent_as_lines(file: int = 1) -> Report:
    """Return a report that writes lines to an open file, by default to stdout."""

    def report(kind: str, *values: Any) -> None:
        with suppress(OSError):  # lost if the other side is gone, or too busy to read
            os.write(file, json.dumps({kind: values}).encode() + b"\n")

    return report


log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Time between checks for a newer index, which opens it before a call needs it."""


async def report_index(engine: EngineWorker, report: Report) -> None:
    """Report the open index whenever it changes; runs until cancelled."""
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
    engine.begin()
    reporting = asyncio.create_task(report_index(engine, sent_as_lines()))
    with suppress(OSError):
        while await asyncio.to_thread(os.read, 0, 1_000):
            pass
    reporting.cancel()


if __name__ == "__main__":
    main()
