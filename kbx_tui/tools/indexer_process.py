"""Keeps an index in step with the files and reports what it holds, for `kbx web`.

    python -P -m kbx_tui.tools.indexer_process BASE [--trust]

Reports are lines on stdout (`tools/engine_process.py`). The process ends when its stdin does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

from kbx_tui.ending import end_soon, install, leave
from kbx_tui.tools.engine_process import McpOptions, report_index, sent_as_lines
from kbx_tui.tools.engine_worker import EngineWorker


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
    reporting = asyncio.create_task(report_index(engine, sent_as_lines(_send)))
    with suppress(OSError):
        while await asyncio.to_thread(os.read, 0, 1_000):
            pass
    reporting.cancel()


def _send(report: bytes) -> None:
    with suppress(OSError):
        os.write(1, report)


if __name__ == "__main__":
    main()
