"""Several processes that answer MCP over HTTP as one server: real processes, the SDK's client."""

import asyncio
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from kbx_tui.errors import KbxError
from kbx_tui.http_service.connection_guard import ConnectionGuard, ConnectionLimits
from kbx_tui.http_service.http_server import HttpServer
from kbx_tui.http_service.server_process import ServiceState
from kbx_tui.tools import mcp_http
from kbx_tui.tools.engine_worker import McpOptions
from kbx_tui.tools.mcp_http import WorkerPool, listen
from tests.command_line import program_environment
from tests.functional.tools.mcp_requests import ACCEPT, LIST, TOKEN
from tests.waiting import until, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes inherit no socket")

SECONDS = 60.0
QUERY = "unmistakable zebra budget"


@dataclass
class Served:
    process: subprocess.Popen[str]
    url: str
    metrics: str

    def workers(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    def monitored(self, path: str) -> httpx2.Response:
        return httpx2.get(self.metrics.replace("/metrics", path), timeout=SECONDS)


@pytest.fixture
def served(demo_copy: Path) -> Iterator[Served]:
    pytest.importorskip("prometheus_client", reason="needs the extra `metrics`")
    command = [sys.executable, "-m", "kbx_tui", "--kb", str(demo_copy), "mcp", "--http"]
    options = ["--port", "0", "--workers", "2", "--metrics-port", "0", "--no-warm"]
    process = subprocess.Popen(
        [*command, *options],
        stderr=subprocess.PIPE,
        text=True,
        env=program_environment({"KBX_TOKEN": TOKEN}),
    )
    assert process.stderr is not None
    url = process.stderr.readline().split()[4].rstrip(";")
    metrics = process.stderr.readline().split()[3]
    yield Served(process, url, metrics)
    process.kill()
    process.communicate()


def test_workers_answer_as_one_server(served: Served) -> None:
    """They start, are asked, crash, are monitored and end: in one test, as starting takes long."""
    headers = {"authorization": f"Bearer {TOKEN}"}

    async def ask(count: int) -> None:

        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
            Client(streamable_http_client(served.url, http_client=http)) as client,
        ):
            for _ in range(count):
                answer = await client.call_tool("kb_search", {"query": QUERY})
                assert not answer.is_error, answer

    async def ask_at_once() -> None:
        await asyncio.gather(*(ask(2) for _ in range(4)))

    asyncio.run(ask_at_once())
    while len(json.loads(served.monitored("/readyz").text)["generations"]) < 2:
        asyncio.run(ask(1))  # the one that was ready later gets a connection, too

    stranger = {"authorization": f"Bearer {TOKEN}", "host": "evil.example"}
    for sent, status in (({}, 401), (headers, 200), (stranger, 403)):
        for _ in range(2):  # connections take turns
            answer = httpx2.post(served.url, json=LIST, headers=[*ACCEPT.items(), *sent.items()])
            assert answer.status_code == status

    text = served.monitored("/metrics").text
    assert re.search(r'kbx_tool_calls_total\{result="ok",tool="kb_search"\} (8|9|\d{2,})\.0', text)
    assert 'kbx_http_requests_total{route="mcp",status="401"} 2.0' in text
    assert 'kbx_index_generation{process="worker 1"}' in text
    for private in ("zebra", TOKEN, served.url.rpartition("/")[2] + "/", "larkwater"):
        assert private not in text
    host = {"host": "evil.example"}
    assert httpx2.get(served.metrics, headers=host).status_code == 403
    assert httpx2.get(served.metrics, headers={"origin": "http://a"}).status_code == 403
    assert served.monitored("/healthz").text == "ok\n"

    first = min(served.workers(), key=lambda worker: worker.create_time())
    first.kill()
    asyncio.run(ask(2))
    assert served.process.stderr is not None
    said = next(line for line in served.process.stderr if "ended with" in line)
    assert said == "kbx: worker 0 ended with exit code -9; another one is started\n"
    wait_until(lambda: len(served.workers()) == 2)
    assert "kbx_worker_restarts_total 1.0" in served.monitored("/metrics").text

    page = {**headers, "origin": "http://evil.example", "content-type": "application/json"}
    assert httpx2.post(served.url, json=LIST, headers=page).status_code == 403  # not printed below

    workers = served.workers()
    served.process.send_signal(signal.SIGTERM)
    _, errors = served.process.communicate(timeout=SECONDS)
    assert (served.process.returncode, errors) == (143, "")
    psutil.wait_procs(workers, timeout=SECONDS)
    assert not any(worker.is_running() for worker in workers)


async def test_workers_that_end_at_once_end_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_http, "MODULE", "kbx_tui.no_such_module")
    listening, _ = listen("127.0.0.1", 0)
    pool = WorkerPool(McpOptions("."), 2, ServiceState())
    with pytest.raises(KbxError, match=r"workers ended 6 times within 60 seconds, the last with"):
        await asyncio.wait_for(pool.serve(listening), SECONDS)
    assert not pool.pids()


async def test_worker_that_reports_nothing_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(mcp_http, "MODULE", "hanging_worker")
    monkeypatch.setattr(mcp_http, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(mcp_http, "START_LOOKS", 10_000)
    listening, _ = listen("127.0.0.1", 0)
    pool = WorkerPool(McpOptions("."), 1, ServiceState())
    with pytest.raises(KbxError, match=r"workers ended 6 times within 60 seconds"):
        await asyncio.wait_for(pool.serve(listening), SECONDS)
    assert capsys.readouterr().err.count("has not responded for 0.12 seconds and is ended") == 6


class ReportedState(ServiceState):
    reports = 0

    def note(self, process: str, kind: str, *values: Any) -> None:
        self.reports += 1


async def test_worker_is_kept_when_the_server_was_stopped_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As after Ctrl+Z, or on a machine that was suspended."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(mcp_http, "MODULE", "reporting_worker")
    listening, _ = listen("127.0.0.1", 0)
    state = ReportedState()
    pool = WorkerPool(McpOptions("."), 1, state)
    serving = asyncio.create_task(pool.serve(listening))
    loop = asyncio.get_running_loop()
    await until(lambda: state.reports > 1)
    reports, pids = state.reports, pool.pids()
    monkeypatch.setattr(loop, "time", lambda: time.monotonic() + 3600)
    await until(lambda: state.reports > reports + 1)
    assert pool.pids() == pids

    reader, writer = await asyncio.open_connection(*listening.getsockname())
    address = listening.getsockname()
    pool.stop()
    await serving
    with suppress(ConnectionResetError):
        assert await reader.read() == b""  # nobody is left who could accept it
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*address)


class SharedServer(HttpServer):
    """Accepts on a socket on which others accept, too, and answers with its name."""

    def __init__(self, name: bytes, guard: ConnectionGuard | None = None) -> None:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": name})

        super().__init__(answer, guard or ConnectionGuard(ConnectionLimits()))

    async def begin(self, listening: socket.socket) -> asyncio.Task[None]:
        """Return the task that serves; it has a descriptor of its own, as a worker has."""
        serving = asyncio.create_task(self.serve_shared(listening.dup()))
        await until(lambda: self.started)
        return serving

    def count(self) -> int:
        return len(self.server_state.connections)


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with listen("127.0.0.1", 0)[0] as listening:
        listening.setblocking(False)
        yield listening


async def test_connections_go_to_the_worker_that_has_fewer(listening: socket.socket) -> None:
    """Also where both have many."""
    busy, idle = SharedServer(b"busy"), SharedServer(b"idle")
    serving, clients = [], list[asyncio.StreamWriter]()

    async def connect(count: int) -> None:
        for _ in range(count):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            clients.append(writer)
            await until(lambda: busy.count() + idle.count() == len(clients))

    serving.append(await busy.begin(listening))
    await connect(80)
    serving.append(await idle.begin(listening))
    await connect(20)
    assert (busy.count(), idle.count()) == (80, 20)
    for writer in clients:
        writer.close()
    busy.stop()
    idle.stop()
    await asyncio.gather(*serving)


async def test_worker_that_ends_leaves_what_waits_to_another(listening: socket.socket) -> None:
    ending, next_one = SharedServer(b"ending"), SharedServer(b"next")
    serving = await ending.begin(listening)
    ending.stop()
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    await serving
    serving = await next_one.begin(listening)
    assert (await asyncio.wait_for(reader.read(), SECONDS)).endswith(b"\r\nnext\r\n0\r\n\r\n")
    writer.close()
    next_one.stop()
    await serving


class BrokenGuard(ConnectionGuard):
    def wrap(self, inner: asyncio.Protocol) -> asyncio.Protocol:
        raise RuntimeError("broken")


async def test_worker_that_can_accept_no_more_ends(
    listening: socket.socket, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("kbx_tui"), "propagate", True)  # an opened log ends it
    serving = await SharedServer(b"", BrokenGuard(ConnectionLimits())).begin(listening)
    _, writer = await asyncio.open_connection(*listening.getsockname())
    await asyncio.wait_for(serving, SECONDS)
    assert [each.getMessage() for each in caplog.records] == [
        "this process can accept no more connections and ends"
    ]
    writer.close()
