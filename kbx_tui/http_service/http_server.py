"""uvicorn with connection limits, alone or beside other processes on the same socket.

It leaves signals to `kbx_tui.ending`.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kbx_tui.http_service.connection_guard import ConnectionGuard

DRAIN_SECONDS = 1.4
"""Time for active requests when the server stops; the process ends soon afterwards."""
STEP_SECONDS, MOST_STEPS = 0.001, 10
RETRY_SECONDS = 0.05


class HttpServer(uvicorn.Server):
    """Serves one application on a socket, which may be that of several processes."""

    def __init__(self, app: Any, guard: ConnectionGuard) -> None:
        def protocol(**arguments: Any) -> asyncio.Protocol:
            return guard.wrap(H11Protocol(**arguments))

        self._protocol = protocol
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(Any, protocol),
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=cast(int, DRAIN_SECONDS),
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: `kbx_tui.ending` calls `stop`."""
        yield

    def stop(self) -> None:
        """Accept no more, finish active requests, let `serve` return. Callable on any thread."""
        self.should_exit = True

    async def accept(self, listening: socket.socket) -> None:
        """Accept connections of a socket on which other processes accept, too, until cancelled.

        Which of them the system wakes first is a matter of its scheduler. So each waits the longer
        the more connections it has: those with the fewest take the next.
        """
        loop = asyncio.get_running_loop()
        state: Any = {"server_state": self.server_state, "app_state": self.lifespan.state}
        readable = asyncio.Event()
        while True:
            loop.add_reader(listening, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(listening)
            readable.clear()
            steps = min(len(self.server_state.connections), MOST_STEPS) + random.random()
            await asyncio.sleep(STEP_SECONDS * steps)
            try:
                connection, _ = listening.accept()
                connection.setblocking(False)
                await loop.connect_accepted_socket(
                    lambda: self._protocol(config=self.config, **state), connection
                )
            except BlockingIOError:  # another process was faster
                continue
            except OSError:  # too many open files, or the client has disconnected
                await asyncio.sleep(RETRY_SECONDS)
