"""Several processes that answer MCP over HTTP as one server: real processes, the SDK's client."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
from kbx_tui.tools import serve_http
from kbx_tui.tools.engine_worker import McpOptions
from kbx_tui.tools.mcp_http import listen
from kbx_tui.tools.serve_http import WorkerPool
from tests.command_line import program_environment
from tests.functional.tools.mcp_requests import ACCEPT, LIST, TOKEN
from tests.waiting import wait_until

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
    monkeypatch.setattr(serve_http, "MODULE", "kbx_tui.no_such_module")
    listening, _ = listen("127.0.0.1", 0)
    pool = WorkerPool(McpOptions("."), 2, ServiceState())
    with pytest.raises(KbxError, match=r"workers ended 6 times within 60 seconds, the last with"):
        await asyncio.wait_for(pool.serve(listening), SECONDS)
    assert not pool.pids()


async def test_worker_that_reports_nothing_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(serve_http, "MODULE", "hanging_worker")
    monkeypatch.setattr(serve_http, "SILENT_SECONDS", 0.05)
    listening, _ = listen("127.0.0.1", 0)
    pool = WorkerPool(McpOptions("."), 1, ServiceState())
    with pytest.raises(KbxError, match=r"workers ended 6 times within 60 seconds"):
        await asyncio.wait_for(pool.serve(listening), SECONDS)
    assert capsys.readouterr().err.count("has not responded for 0.05 seconds and is ended") == 6


async def test_connections_go_to_the_worker_that_has_the_fewest() -> None:
    """Two servers in one process accept on one socket, as workers do."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer no request: only connections are counted."""

    listening, _ = listen("127.0.0.1", 0)
    listening.setblocking(False)
    servers = [HttpServer(app, ConnectionGuard(ConnectionLimits())) for _ in range(2)]
    serving = [asyncio.create_task(server.serve(sockets=[])) for server in servers]
    while not all(server.started for server in servers):
        await asyncio.sleep(0.01)
    sockets = [listening.dup() for _ in servers]  # a loop has one reader per descriptor
    accepting = [
        asyncio.create_task(server.accept(own))
        for server, own in zip(servers, sockets, strict=True)
    ]
    clients = [await asyncio.open_connection(*listening.getsockname()) for _ in range(9)]
    while sum(counts := [len(server.server_state.connections) for server in servers]) < 9:
        await asyncio.sleep(0.01)
    assert sorted(counts) == [4, 5]
    for _, writer in clients:
        writer.close()
    for server in servers:
        server.stop()
    for task in accepting:
        task.cancel()
    await asyncio.gather(*serving)
    for each in (listening, *sockets):
        each.close()
