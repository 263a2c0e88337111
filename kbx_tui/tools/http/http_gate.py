"""What the HTTP server answers before a request reaches MCP: who may call, and when it is full."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kbx_tui.formatting import format_count

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
        refusal = _error(401, UNAUTHORIZED, message, {"WWW-Authenticate": "Bearer"})
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
        self._full = _error(
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
            refusal = _error(405, NOT_SUPPORTED, message, {"Allow": "POST"})
            await refusal(scope, receive, send)
        elif (body := await _body(receive)) is None:
            return  # its client has left
        elif len(body) > REQUEST_BYTES:
            message = f"a request has at most {REQUEST_BYTES:,} bytes"
            await _error(413, TOO_LARGE, message, {"Connection": "close"})(scope, receive, send)
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


def _error(status: int, code: int, message: str, headers: dict[str, str]) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(json.dumps(body), status, headers, "application/json")
