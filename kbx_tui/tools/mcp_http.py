"""`kbx mcp --http`: the MCP server over streamable HTTP, for this machine only.

Any web page in a browser can send requests to local ports. So the server listens on loopback only,
and refuses requests whose Host or Origin is not a loopback name. Other users and programs of this
machine are kept out by a token, if one is set.

It keeps no sessions: no tool needs to know what a client asked before, so any process can answer
any request, and a client does not notice that a process was replaced.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import re
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kbx_tui.errors import ConfigError
from kbx_tui.formatting import format_count
from kbx_tui.http_service.hosts import listen_on
from kbx_tui.http_service.http_server import Connections, HttpServer
from kbx_tui.tools.engine_process import MAX_REQUESTS, NO_REPORTS, Reports, report_index
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server

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


UNAUTHORIZED = -32001
"""JSON-RPC error codes; this range is free for servers."""
FULL = -32002
NOT_SUPPORTED = -32003
TOO_LARGE = -32004
REQUEST_BYTES = 1_000_000
RETRY_SECONDS = 1

Answered = Callable[[int, float], object]
"""Receives the status of an answer and the seconds that it took."""


class RequireToken:
    """Answers 401 to requests without the token; compares it in constant time."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_allowed(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        message = (
            "this server asks for the token that its owner set; send it as the header "
            "'Authorization: Bearer TOKEN'"
        )
        refusal = _refusal(401, UNAUTHORIZED, message, {"WWW-Authenticate": "Bearer"})
        await refusal(scope, receive, send)

    def _is_allowed(self, headers: Headers) -> bool:
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        is_same = hmac.compare_digest(sent.strip().encode("latin-1", "replace"), self._token)
        return is_same and scheme.lower() == "bearer"


class LimitRequests:
    """Lets complete requests through, so many at a time, and asks others to try again.

    There are no sessions, and so no streams to open (GET) or sessions to end (DELETE).
    """

    def __init__(
        self, app: ASGIApp, at_once: int, changed: Callable[[int], object] = lambda count: None
    ) -> None:
        """`changed` receives the number of requests in progress whenever it changes."""
        self._app, self._at_once, self._changed, self._running = app, at_once, changed, 0
        self._full = _refusal(
            503,
            FULL,
            f"{format_count(at_once, 'request')} are being answered, which is the limit "
            f"(--max-requests); try again in {format_count(RETRY_SECONDS, 'second')}",
            {"Retry-After": str(RETRY_SECONDS)},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            message = "only POST is answered: this server keeps no session and sends no events"
            refusal = _refusal(405, NOT_SUPPORTED, message, {"Allow": "POST"})
            await refusal(scope, receive, send)
        elif (body := await _body(receive)) is None:
            return  # its client has left
        elif len(body) > REQUEST_BYTES:
            message = f"a request has at most {REQUEST_BYTES:,} bytes"
            await _refusal(413, TOO_LARGE, message, {"Connection": "close"})(scope, receive, send)
        elif self._running >= self._at_once:
            await self._full(scope, receive, send)
        else:
            await self._run(scope, _replay(body, receive), send)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._count(1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self._running += change
        self._changed(self._running)


class ObserveAnswers:
    """Reports the status of each answer, and how long it took."""

    def __init__(self, app: ASGIApp, answered: Answered) -> None:
        self._app, self._answered = app, answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, observed)
        finally:
            self._answered(status, time.perf_counter() - began)


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, of a large one the beginning; None if its client has left."""
    body, more = b"", True
    while more and len(body) <= REQUEST_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields a body that was read, then what comes after it."""
    is_read = False

    async def replay() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _refusal(status: int, code: int, message: str, headers: dict[str, str]) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(json.dumps(body), status, headers, "application/json")


VARIABLE = "KBX_TOKEN"
HOW = "make one with `openssl rand -hex 32`"

_VALID = re.compile(r"[\x21-\x7e]{16,512}")
"""What fits into a header, long enough not to be guessed."""


def access_token(file: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the token of `file`, else of KBX_TOKEN; None if neither is given.

    Raises ConfigError if it cannot be read or is not 16 to 512 visible ASCII characters; the
    message does not contain it.
    """
    if file is not None:
        source, token = str(file), _read(file)
    elif VARIABLE in environment:
        source, token = VARIABLE, environment[VARIABLE]
    else:
        return None
    if not _VALID.fullmatch(token := token.strip()):
        raise ConfigError(
            f"the token in {source} must have 16 to 512 letters, digits or signs, and no spaces; "
            f"{HOW}"
        )
    return token


def _read(file: Path) -> str:
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            return opened.read(1_000)
    except OSError as error:
        raise ConfigError(
            f"the token file {file} cannot be read ({error.strerror}); {HOW} > {file}"
        ) from error


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
