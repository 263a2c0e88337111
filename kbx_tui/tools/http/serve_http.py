"""Serves MCP over HTTP with this process, or with several that this one starts."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from typing import Protocol

from kbx_tui.ending import on_signal
from kbx_tui.errors import ConfigError
from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.open_files import allow_connections
from kbx_tui.http_service.service_state import ServiceState
from kbx_tui.tools.http.mcp_options import McpOptions, start_log
from kbx_tui.tools.http.mcp_process import McpProcess
from kbx_tui.tools.http.reports import StateReports
from kbx_tui.tools.http.worker_pool import WorkerPool
from kbx_tui.tools.servers.engine_worker import EngineWorker

PROCESS = "server"


class _Service(Protocol):
    async def serve(self, listening: socket.socket) -> None: ...

    def stop(self) -> object: ...


def require_workers(count: int) -> None:
    """Raise ConfigError where a process cannot hand its connections to others."""
    if count > 1 and sys.platform == "win32":
        raise ConfigError("--workers above 1 does not run on Windows; in WSL it does")


def serve_one(
    options: McpOptions, engine: EngineWorker, listening: socket.socket, port: MonitorPort | None
) -> None:
    """Serve with this process until a signal comes; what is in progress is answered."""
    state = ServiceState(pids=lambda: {PROCESS: [os.getpid()]})
    process = McpProcess(
        engine,
        token=options.token,
        max_requests=options.max_requests,
        reports=StateReports(state, PROCESS),
    )
    asyncio.run(_serve(process, listening, port, state))


def serve_several(
    options: McpOptions, count: int, listening: socket.socket, port: MonitorPort | None
) -> None:
    """Serve with so many other processes until a signal comes.

    Raises KbxError if they end again and again.
    """

    async def serve() -> None:
        state = ServiceState()
        await _serve(WorkerPool(options, count, state), listening, port, state)

    asyncio.run(serve())


async def _serve(
    service: _Service, listening: socket.socket, port: MonitorPort | None, state: ServiceState
) -> None:
    allow_connections()
    start_log()
    with on_signal(service.stop):
        async with monitored(port, state):
            await service.serve(listening)
