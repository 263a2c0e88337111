"""Health and metrics of a server, on a port of their own: `/healthz`, `/readyz`, `/metrics`.

The port is for programs on this machine. It needs no token, as its answers hold nothing of a base.
As everywhere, a request must name this machine as its host and must not come from a page.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from kbx_tui.errors import KbxError
from kbx_tui.http_service.hosts import (
    HostRules,
    host_rules,
    ipv4_of_localhost,
    is_loopback,
    listen_on,
)
from kbx_tui.http_service.server_process import ServiceState

WAITING_CONNECTIONS = 16


@dataclass(frozen=True, slots=True)
class MonitorPort:
    socket: socket.socket
    rules: HostRules

    @property
    def is_open_to_others(self) -> bool:
        return not is_loopback(self.socket.getsockname()[0])

    @property
    def url(self) -> str:
        host, port = self.socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"


def listen_for_monitoring(host: str, port: int) -> MonitorPort:
    """Listen on `host`. Raises ConfigError, and KbxError without the extra `metrics`."""
    try:
        import prometheus_client  # noqa: F401
    except ImportError as error:
        raise KbxError(
            "--metrics-port needs the extra `metrics`: install kbx-tui[metrics], as in "
            "`uv tool install 'kbx-tui[metrics]'`"
        ) from error
    bound = listen_on(host, port, waiting=WAITING_CONNECTIONS, option="--metrics-port")
    return MonitorPort(bound, host_rules(ipv4_of_localhost(host), secure=False))


@asynccontextmanager
async def monitored(port: MonitorPort | None, state: ServiceState) -> AsyncIterator[None]:
    """Answer requests for health and metrics within the block; without a port, do nothing."""
    if port is None:
        yield
        return
    # uvicorn and prometheus_client are loaded only where there is such a port.
    from kbx_tui.http_service.connection_guard import ConnectionGuard, ConnectionLimits
    from kbx_tui.http_service.http_server import HttpServer
    from kbx_tui.http_service.monitor_app import MonitorApp, ServiceMetrics

    metrics = ServiceMetrics(state)
    state.observer = metrics
    guard = ConnectionGuard(ConnectionLimits(at_once=16))
    server = HttpServer(MonitorApp(port.rules, state, metrics), guard)
    serving = asyncio.create_task(server.serve(sockets=[port.socket]))
    try:
        yield
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        port.socket.close()
