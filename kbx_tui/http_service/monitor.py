"""Health and metrics of a server, on a port of their own: `/healthz`, `/readyz`, `/metrics`.

The port is for this machine. No token is asked for, as nothing of a base is said; a request must
name this machine as its host and come from no page, as everywhere.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.http_service.http_server import HttpServer
from kbx_tui.http_service.limited_protocol import Connections
from kbx_tui.http_service.same_origin import HostRules, host_rules, is_loopback, refusal
from kbx_tui.http_service.service_state import ServiceState

if TYPE_CHECKING:
    from kbx_tui.http_service.service_metrics import ServiceMetrics

CONNECTIONS = Connections(at_once=16, receive_seconds=5.0, answer_seconds=10.0)
WAITING_CONNECTIONS = 16


@dataclass(frozen=True, slots=True)
class MonitorPort:
    """A socket that listens for requests of health and metrics."""

    socket: socket.socket
    rules: HostRules

    @property
    def is_open_to_others(self) -> bool:
        """Whether other machines can read the metrics."""
        return not is_loopback(self.socket.getsockname()[0])

    @property
    def url(self) -> str:
        """The address of the metrics."""
        host, port = self.socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"


def listen_for_monitoring(host: str, port: int) -> MonitorPort:
    """Listen on `host`; port 0 picks a free one.

    Raises ConfigError for an address of another machine or a port that is taken, and KbxError
    without the extra `metrics`.
    """
    try:
        import prometheus_client  # noqa: F401
    except ImportError as error:
        raise KbxError(
            "--metrics-port needs the extra `metrics`: install kbx-tui[metrics], as in "
            "`uv tool install 'kbx-tui[metrics]'`"
        ) from error
    address = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
        bound.listen(WAITING_CONNECTIONS)
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"port {port} of {host} cannot be used for metrics: {error.strerror}; name another "
            "--metrics-port"
        ) from error
    return MonitorPort(bound, host_rules(address, secure=False))


@asynccontextmanager
async def monitored(port: MonitorPort | None, state: ServiceState) -> AsyncIterator[None]:
    """Answer requests of health and metrics within the block; nothing without a port."""
    if port is None:
        yield
        return
    from kbx_tui.http_service.service_metrics import ServiceMetrics

    metrics = ServiceMetrics()
    metrics.show(state)
    state.observer = metrics
    server = HttpServer(_Monitor(port.rules, state, metrics), CONNECTIONS)
    serving = asyncio.create_task(server.serve(sockets=[port.socket]))
    try:
        yield
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        port.socket.close()


class _Monitor:
    """The application of the port."""

    def __init__(self, rules: HostRules, state: ServiceState, metrics: ServiceMetrics) -> None:
        self._rules, self._state, self._metrics = rules, state, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = await self._answer(scope)
            answer.headers["Cache-Control"] = "no-store"
            answer.headers["X-Content-Type-Options"] = "nosniff"
            await answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            for done in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{done}.complete"})

    async def _answer(self, scope: Scope) -> Response:
        headers = Headers(scope=scope)
        plain = {"Host": headers.get("host", "")}
        for name in ("Origin", "Sec-Fetch-Site"):
            if name in headers:
                plain[name] = headers[name]
        if "Origin" in plain or refusal(self._rules, plain, navigates=False, from_page=False):
            return PlainTextResponse("refused: this port answers programs of this machine\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("only GET is answered\n", 405, {"Allow": "GET, HEAD"})
        match scope["path"]:
            case "/healthz":
                return PlainTextResponse("ok\n")
            case "/readyz":
                ready, body = self._state.readiness()
                text = json.dumps(body) + "\n"
                return Response(text, 200 if ready else 503, media_type="application/json")
            case "/metrics":
                metrics = await asyncio.to_thread(self._metrics.text)  # reads files of the system
                return Response(metrics, media_type=self._metrics.content_type)
        return PlainTextResponse("there is /healthz, /readyz and /metrics\n", 404)
