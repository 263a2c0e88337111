"""`kbx mcp --http`: the MCP server over streamable HTTP, for this machine only.

Any web page in a browser can send requests to local ports. So the server listens on loopback only,
and refuses requests whose Host or Origin is not a loopback name. Other users and programs of this
machine are kept out by a token, if one is set.

It keeps no sessions: no tool needs to know what a client asked before, so any process can answer
any request, and a client does not notice that a process was replaced.
"""

from __future__ import annotations

import ipaddress
import socket

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from kbx_tui.errors import ConfigError
from kbx_tui.http_service.listening_socket import listen_on
from kbx_tui.tools.http.http_gate import (
    REQUEST_BYTES,
    LimitRequests,
    ObserveAnswers,
    RequireToken,
)
from kbx_tui.tools.http.mcp_options import MAX_REQUESTS
from kbx_tui.tools.http.reports import NO_REPORTS, Reports
from kbx_tui.tools.servers.engine_worker import EngineWorker
from kbx_tui.tools.servers.mcp_server import make_server

ENDPOINT = "/mcp"
WAITING_CONNECTIONS = 128
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def require_loopback(host: str) -> str:
    """Return the address of `host`. Raises ConfigError if other machines can reach it."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        if ipaddress.ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise ConfigError(f"--host {host} can be reached by other machines; use 127.0.0.1 or ::1")


def make_app(
    worker: EngineWorker,
    *,
    token: str | None = None,
    max_requests: int = MAX_REQUESTS,
    reports: Reports = NO_REPORTS,
) -> ASGIApp:
    """Return the web application that serves `ENDPOINT`, with a `token` to those who send it."""
    served: ASGIApp = make_server(worker, reports.call).streamable_http_app(
        streamable_http_path=ENDPOINT,
        stateless_http=True,
        max_request_body_size=REQUEST_BYTES,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[f"{name}:*" for name in LOOPBACK_NAMES],
            allowed_origins=[f"http://{name}:*" for name in LOOPBACK_NAMES],
        ),
    )
    app: ASGIApp = LimitRequests(
        served, max_requests, lambda count: reports.load(count, worker.waiting())
    )
    if token is not None:
        app = RequireToken(app, token)
    return ObserveAnswers(app, reports.request)


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a listening socket and the URL of the server; port 0 picks a free one.

    Raises ConfigError for an address that is not loopback or a port that is taken.
    """
    address = require_loopback(host)
    listening = listen_on(address, port, waiting=WAITING_CONNECTIONS, option="--port")
    host_name = f"[{address}]" if ":" in address else address
    return listening, f"http://{host_name}:{listening.getsockname()[1]}{ENDPOINT}"
