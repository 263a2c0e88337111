"""The application of the port for health and metrics, in the format of Prometheus.

Metrics are counts and times: no text, path or name from a base. Needs the extra `metrics`: nothing
else of the package imports prometheus_client.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from kbx_tui import __version__
from kbx_tui.http_service.hosts import HostRules, refusal
from kbx_tui.http_service.server_process import Observer, ServiceState, process_usage


class MonitorApp:
    """ASGI application for `/healthz`, `/readyz` and `/metrics`."""

    def __init__(self, rules: HostRules, state: ServiceState, metrics: ServiceMetrics) -> None:
        self._rules, self._state, self._metrics = rules, state, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = await self._answer(scope)
            answer.headers["Cache-Control"] = "no-store"
            answer.headers["Connection"] = "close"  # each is limited in time
            answer.headers["X-Content-Type-Options"] = "nosniff"
            await answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            for done in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{done}.complete"})

    async def _answer(self, scope: Scope) -> Response:
        headers = Headers(scope=scope)
        reason = refusal(self._rules, headers.items(), navigates=False, from_page=False)
        if reason or "origin" in headers:
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


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the histogram buckets for durations, in seconds."""


class ServiceMetrics(Observer):
    """Counts what happens to a server, and writes it with the state of the server."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, state: ServiceState) -> None:
        # Otherwise each series would get a creation time, which this text format does not define.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._registry.register(_StateCollector(state))  # read again each time
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, buckets=SECONDS, registry=self._registry)
        self._requests = counter(
            "kbx_http_requests", "HTTP requests answered, by route and status.", ["route", "status"]
        )
        self._request_seconds = histogram(
            "kbx_http_request_seconds",
            "Time from a complete request to the end of its answer.",
            ["route"],
        )
        self._calls = counter(
            "kbx_tool_calls",
            "Calls of tools, by tool and result: ok, or the type of the failure.",
            ["tool", "result"],
        )
        self._call_seconds = histogram(
            "kbx_tool_call_seconds", "Time of a call, waiting for the engine included.", ["tool"]
        )
        self._rejected = counter(
            "kbx_rejected",
            "Requests and sessions refused because a limit was reached.",
            ["reason"],
        )
        self._restarts = counter(
            "kbx_worker_restarts", "Processes started again after they ended unasked."
        )

    def request(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def call(self, tool: str, result: str, seconds: float) -> None:
        self._calls.labels(tool, result).inc()
        self._call_seconds.labels(tool).observe(seconds)

    def rejected(self, reason: str) -> None:
        self._rejected.labels(reason).inc()

    def restarted(self) -> None:
        self._restarts.inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _StateCollector(Collector):
    def __init__(self, state: ServiceState) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        state = self._state
        build = GaugeMetricFamily("kbx_build_info", "The version that runs.", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        ready = float(state.readiness()[0])
        yield GaugeMetricFamily("kbx_ready", "1 while searches are answered.", ready)
        yield from self._processes()
        yield from self._indices()
        running = _by_process("kbx_requests_in_progress", "HTTP requests in progress.")
        waiting = _by_process("kbx_calls_waiting", "Calls that wait for the engine.")
        for name, (requests, calls) in list(state.load.items()):  # another thread changes it
            running.add_metric([name], requests)
            waiting.add_metric([name], calls)
        yield running
        yield waiting
        if state.sessions is not None:
            now, most = state.sessions()
            yield GaugeMetricFamily("kbx_sessions", "Sessions that are open.", now)
            yield GaugeMetricFamily("kbx_sessions_limit", "Sessions that may be open.", most)

    def _processes(self) -> Iterator[Metric]:
        count = _by_process("kbx_processes", "Processes that run.")
        private = _by_process(
            "kbx_private_memory_bytes", "Memory that a process wrote and has alone."
        )
        shared = _by_process("kbx_proportional_memory_bytes", "All memory, what is shared in part.")
        cpu = CounterMetricFamily(
            "kbx_cpu_seconds", "Processor time of a process.", labels=["process"]
        )
        for name, pids in self._state.pids().items():
            count.add_metric([name], len(pids))
            if usages := list(filter(None, map(process_usage, pids))):
                private.add_metric([name], sum(usage.private_bytes for usage in usages))
                shared.add_metric([name], sum(usage.proportional_bytes for usage in usages))
                if name != "sessions":  # their sum falls when one ends
                    cpu.add_metric([name], sum(usage.cpu_seconds for usage in usages))
        yield from (count, private, shared, cpu)

    def _indices(self) -> Iterator[Metric]:
        generation = _by_process("kbx_index_generation", "Generation of the index that is open.")
        pages = _by_process("kbx_index_pages", "Pages in that index.")
        chunks = _by_process("kbx_index_chunks", "Chunks in that index.")
        age = _by_process("kbx_index_age_seconds", "Time since a run last changed its text.")
        for name, index in list(self._state.indices.items()):  # another thread changes it
            generation.add_metric([name], index.generation)
            pages.add_metric([name], index.pages)
            chunks.add_metric([name], index.chunks)
            if index.indexed_at is not None:
                age.add_metric([name], max(time.time() - index.indexed_at, 0.0))
        yield from (generation, pages, chunks, age)


def _by_process(name: str, text: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=["process"])
