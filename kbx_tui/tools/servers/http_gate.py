"""What the HTTP server answers before a request reaches MCP: who may call, and when it is full."""

from __future__ import annotations

import hmac
import json

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kbx_tui.formatting import format_count

UNAUTHORIZED = -32001
"""JSON-RPC error codes; this range is free for servers."""
FULL = -32002


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


class ExplainFull:
    """Gives a client that gets no session the reason, and when to try again."""

    def __init__(self, app: ASGIApp, sessions: int, idle_seconds: float) -> None:
        self._app = app
        self._retry_after = max(1, round(min(idle_seconds, 60.0)))
        self._message = (
            f"all {sessions} sessions of this server are in use; close one, or try again in "
            f"{format_count(self._retry_after, 'second')}: idle ones end after "
            f"{format_count(round(idle_seconds / 60), 'minute')} without a request"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_full = False

        async def replace_refusal(message: Message) -> None:
            nonlocal is_full
            if message["type"] == "http.response.start" and message["status"] == 503:
                is_full = True  # the SDK sends 503 for nothing else
                headers = {"Retry-After": str(self._retry_after)}
                await _error(503, FULL, self._message, headers)(scope, receive, send)
            elif not is_full:
                await send(message)

        await self._app(scope, receive, replace_refusal)


def _error(status: int, code: int, message: str, headers: dict[str, str]) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(json.dumps(body), status, headers, "application/json")
