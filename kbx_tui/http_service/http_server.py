"""A web server with limits that leaves signals to `kbx_tui.ending`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import uvicorn

from kbx_tui.http_service.limited_protocol import Connections

DRAIN_SECONDS = 1.4
"""Time for requests in progress when the server stops; the process ends soon after it."""


class HttpServer(uvicorn.Server):
    """Serves one application on a socket, or on connections that another process accepts."""

    def __init__(self, app: Any, connections: Connections | None = None) -> None:
        self._guard = connections or Connections()
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(Any, self._guard.protocol),
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
        """Accept no more, finish what runs, and let `serve` return. Callable on any thread."""
        self.should_exit = True

    async def adopt(self, connection: socket.socket) -> None:
        """Serve a connection that was accepted elsewhere."""
        connection.setblocking(False)
        await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        return self._guard.protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
