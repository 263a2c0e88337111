"""The application of the port for health and metrics."""

from __future__ import annotations

import asyncio
import json

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from kbx_tui.http_service.same_origin import HostRules, refusal
from kbx_tui.http_service.service_metrics import ServiceMetrics
from kbx_tui.http_service.service_state import ServiceState


class MonitorApp:
    """Answers programs of this machine."""

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
