"""A process of `kbx mcp --http --workers N`, started by `worker_pool`.

    python -P -m kbx_tui.tools.worker_process DESCRIPTOR

DESCRIPTOR is a socket of the process that listens. It sends one line of JSON, the fields of
`McpOptions`, then one byte with each connection that it accepted. It receives the line
`{"ready": []}`, then reports (`tools/engine_process.py`), `{"adopted": []}` for each connection and
`{"closed": 12}` when one has ended: how many have so far, as a report may be lost. When it closes
the socket, the process answers what is in progress and ends.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from kbx_tui.ending import end_soon, install, leave, on_signal
from kbx_tui.tools.engine_process import McpOptions, sent_as_lines, start_log
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_http import McpProcess

OPTION_BYTES = 65_536
ADOPTED_AT_ONCE = 16
READY, ADOPTED = b'{"ready": []}\n', b'{"adopted": []}\n'


def main() -> None:
    """Serve until the other side closes the socket, or a signal comes."""
    install()
    control = socket.socket(fileno=int(sys.argv[1]))
    line = control.makefile("rb", buffering=0).readline(OPTION_BYTES)
    options = McpOptions(**json.loads(line))
    worker = options.engine()
    start_log()
    asyncio.run(_serve(control, worker, options))
    end_soon(0)
    worker.close()
    leave(0)


async def _serve(control: socket.socket, worker: EngineWorker, options: McpOptions) -> None:
    control.setblocking(False)
    ended = count(1)

    def closed() -> None:
        _send(control, b'{"closed": %d}\n' % next(ended))

    report = sent_as_lines(lambda line: _send(control, line))
    process = McpProcess(worker, options, report, closed=closed)

    async def ready() -> None:
        _send(control, READY)

    with on_signal(process.stop):
        adopting = asyncio.create_task(_adopt(control, process, closed))
        await process.serve(ready=ready)
        adopting.cancel()


async def _adopt(control: socket.socket, process: McpProcess, closed: Callable[[], object]) -> None:
    """Serve the connections that arrive, until the other side is gone."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(control.fileno(), readable.set)
    try:
        while True:
            await readable.wait()
            readable.clear()
            try:
                data, descriptors, _, _ = socket.recv_fds(control, ADOPTED_AT_ONCE, ADOPTED_AT_ONCE)
            except BlockingIOError:
                continue
            for descriptor in descriptors:
                await process.adopt(socket.socket(fileno=descriptor))
                with suppress(OSError):  # never lost: until then the other side keeps it open
                    await loop.sock_sendall(control, ADOPTED)
            for _ in range(len(data) - len(descriptors)):  # too many open files
                with suppress(OSError):
                    await loop.sock_sendall(control, ADOPTED)
                closed()
            if not data:
                break
            readable.set()
    finally:
        loop.remove_reader(control.fileno())
    process.stop()


def _send(control: socket.socket, line: bytes) -> None:
    """Send a report, which is lost if the other side is gone, or too busy to read."""
    with suppress(OSError):
        control.send(line)


if __name__ == "__main__":
    main()
