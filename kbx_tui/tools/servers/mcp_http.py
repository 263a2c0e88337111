"""`kbx mcp --http`: the same server over streamable HTTP, for this machine only.

A page in a browser can reach every port of the machine it runs on. So only loopback is listened on,
and a request is refused whose Host or Origin names anything else.
"""

from __future__ import annotations

import ipaddress
import socket

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from kbx_tui.errors import ConfigError
from kbx_tui.tools.servers.calling import Workplace
from kbx_tui.tools.servers.mcp_server import make_server

ENDPOINT = "/mcp"
LONGEST_REQUEST = 1_000_000
MOST_SESSIONS = 64
NAMES = ("127.0.0.1", "localhost", "[::1]")


def require_loopback(host: str) -> str:
    """Return the address to listen on. Raises ConfigError for one that others can reach."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        if ipaddress.ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise ConfigError(f"--host {host} is not on this machine only; use 127.0.0.1 or ::1")


def make_app(workplace: Workplace) -> Starlette:
    """Return the app that serves `ENDPOINT`."""
    return make_server(workplace).streamable_http_app(
        streamable_http_path=ENDPOINT,
        max_request_body_size=LONGEST_REQUEST,
        max_sessions=MOST_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[f"{name}:*" for name in NAMES],
            allowed_origins=[f"http://{name}:*" for name in NAMES],
        ),
    )


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens, and the URL to reach it; port 0 takes a free one.

    Raises ConfigError for an address that is not loopback or a port that is taken.
    """
    address = require_loopback(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
    except OSError as error:
        listening.close()
        text = f"port {port} of {address} cannot be used: {error.strerror}; name another --port"
        raise ConfigError(text) from error
    named = f"[{address}]" if family == socket.AF_INET6 else address
    return listening, f"http://{named}:{listening.getsockname()[1]}{ENDPOINT}"


async def serve_http(workplace: Workplace, listening: socket.socket) -> None:
    """Serve what comes in on a socket until interrupted."""
    config = uvicorn.Config(make_app(workplace), log_level="warning")
    await uvicorn.Server(config).serve(sockets=[listening])
