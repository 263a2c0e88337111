"""Reports of the index that a process has open, which is thereby the newest one."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict

from kbx_tui.errors import KbxError
from kbx_tui.tools.http.reports import Reports
from kbx_tui.tools.servers.engine_worker import EngineWorker

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
