"""One process that answers MCP over HTTP: the engine, the web application, what it reports."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from kbx_tui.http_service.http_server import HttpServer
from kbx_tui.http_service.limited_protocol import Connections
from kbx_tui.tools.http.index_reports import report_index
from kbx_tui.tools.http.mcp_http import make_app
from kbx_tui.tools.http.mcp_options import MAX_REQUESTS
from kbx_tui.tools.http.reports import NO_REPORTS, Reports
from kbx_tui.tools.servers.engine_worker import EngineWorker


class McpProcess:
    """Answers requests of clients until it is stopped."""

    def __init__(
        self,
        worker: EngineWorker,
        *,
        token: str | None = None,
        max_requests: int = MAX_REQUESTS,
        reports: Reports = NO_REPORTS,
        closed: Callable[[], object] = lambda: None,
    ) -> None:
        """`closed` is called for each connection that has ended."""
        self._worker, self._reports = worker, reports
        app = make_app(worker, token=token, max_requests=max_requests, reports=reports)
        self._closed = closed
        self._server = HttpServer(app, Connections(closed=closed))

    async def serve(
        self,
        listening: socket.socket | None = None,
        ready: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Serve what connects to a socket, or is adopted, until `stop`; then drain.

        `ready` is awaited once connections can be adopted.
        """
        self._worker.begin()
        looking = asyncio.create_task(report_index(self._worker, self._reports))
        serving = asyncio.create_task(self._server.serve([listening] if listening else []))
        try:
            while not (self._server.started or serving.done()):
                await asyncio.sleep(0.01)
            if ready is not None:
                await ready()
            await serving
        finally:
            looking.cancel()

    async def adopt(self, connection: socket.socket) -> None:
        """Serve a connection that another process accepted."""
        try:
            await self._server.adopt(connection)
        except OSError:  # its client has left
            self._closed()

    def stop(self) -> None:
        """Accept no more requests, answer those in progress and end. Callable on any thread."""
        self._server.stop()
