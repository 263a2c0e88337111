"""uvicorn with connection limits, alone or beside other processes on the same socket.

It leaves signals to `kbx_tui.ending`.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from math import log2
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kbx_tui.http_service.connection_guard import ConnectionGuard

DRAIN_SECONDS = 1.4
"""Time for active requests when the server stops; the process ends soon afterwards."""
DOUBLING_SECONDS, TIMER_SECONDS = 0.0005, 0.001
"""What a process waits for each doubling of its connections before it accepts one of a shared
socket, and the step of the system's timers: a random part of it decides between similar waits."""
RETRY_SECONDS = 0.05

log = logging.getLogger(__name__)


class HttpServer(uvicorn.Server):
    """Serves one application on a socket, which may be that of several processes."""

    def __init__(self, app: Any, guard: ConnectionGuard) -> None:
        def protocol(**arguments: Any) -> asyncio.Protocol:
            return guard.wrap(H11Protocol(**arguments))

        self._protocol = protocol
        self._shared: socket.socket | None = None
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

    async def serve_shared(self, listening: socket.socket) -> None:
        """Serve as `serve` does on a socket on which other processes accept, too; closes it."""
        self._shared = listening
        await self.serve([])

    async def main_loop(self) -> None:
        """Accept until `stop` is called, or until that fails; called between start and end."""
        if self._shared is None:
            await super().main_loop()
            return
        accepting = asyncio.create_task(self._accept(self._shared))
        accepting.add_done_callback(self._accepting_ended)
        try:
            await super().main_loop()
        finally:
            accepting.cancel()
            await asyncio.wait([accepting])
            self._shared.close()

    def _accepting_ended(self, accepting: asyncio.Task[None]) -> None:
        if not accepting.cancelled() and (error := accepting.exception()) is not None:
            log.error("this process can accept no more connections and ends", exc_info=error)
            self.stop()

    async def _accept(self, listening: socket.socket) -> None:
        """Accept connections until `stop` is called.

        Which process the system wakes first is a matter of its scheduler. So each waits the longer
        the more connections it has: those with fewer take the next.
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
            doublings = log2(1 + len(self.server_state.connections))
            await asyncio.sleep(doublings * DOUBLING_SECONDS + random.random() * TIMER_SECONDS)
            if self.should_exit:
                return
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
