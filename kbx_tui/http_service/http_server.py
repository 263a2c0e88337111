"""uvicorn with connection limits; it leaves signals to `kbx_tui.ending`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kbx_tui.http_service.connection_guard import ConnectionGuard

DRAIN_SECONDS = 1.4
"""Time for active requests when the server stops; the process ends soon afterwards."""


class HttpServer(uvicorn.Server):
    """Serves one application on a socket, or on connections that another process accepts."""

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

    async def adopt(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        state = {"server_state": self.server_state, "app_state": self.lifespan.state}
        await asyncio.get_running_loop().connect_accepted_socket(
            lambda: self._protocol(config=self.config, **state), connection
        )
