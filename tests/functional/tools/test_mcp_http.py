"""Who may call the HTTP server, and what it does when too many do, with the client of the SDK."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from kbx_tui import ConfigError, NotFound
from kbx_tui.http_service.connection_guard import ConnectionLimits
from kbx_tui.tools.engine_process import Report
from kbx_tui.tools.engine_worker import MOST_CALLS, EngineWorker, McpOptions
from kbx_tui.tools.mcp_http import REQUEST_BYTES, McpProcess, access_token, listen
from kbx_tui.tools.mcp_server import tool_of
from tests.command_line import CommandLine, program_environment
from tests.functional.tools.mcp_requests import ACCEPT, INITIALIZE, LIST, TOKEN, call
from tests.waiting import until

SECONDS = 30.0
"""Seconds until a test gives up waiting."""


def no_base() -> Any:
    raise AssertionError("listing tools opens no base")


@asynccontextmanager
async def serving(
    worker: EngineWorker | None = None,
    limits: ConnectionLimits | None = None,
    report: Report = lambda *values: None,
    **options: Any,
) -> AsyncIterator[str]:
    """Serve in this process and yield the address."""
    worker = worker or EngineWorker(no_base)
    listening, url = listen("127.0.0.1", 0)
    server = McpProcess(worker, McpOptions(".", **options), report, limits=limits)
    task = asyncio.create_task(server.serve(listening))
    try:
        yield url
    finally:
        server.stop()
        await task
        worker.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_that_sends_the_token_is_served(mode: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        serving(token=TOKEN) as url,
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        assert (await client.list_tools()).tools


async def test_call_of_a_tool_describes_that_tool_alone() -> None:
    async with serving() as url, Client(url) as client:
        before = tool_of.cache_info()
        assert (await client.call_tool("kb_search", {"query": 1})).is_error
        after = tool_of.cache_info()
        assert after.hits + after.misses - before.hits - before.misses == 1


async def test_client_without_the_token_is_refused() -> None:
    async with serving(token=TOKEN) as url:
        with pytest.raises(Exception):  # noqa: B017  # a group, differing by version
            async with Client(url) as client:
                await client.list_tools()


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer \xff",
        "Bearer " + "x" * 10_000,
    ],
)
async def test_request_with_another_token_gets_401_and_a_reason(sent: str) -> None:
    headers = {**ACCEPT, **({"authorization": sent} if sent else {})}
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    async with serving(token=TOKEN) as url, httpx2.AsyncClient() as http:
        for method in ("POST", "GET", "DELETE"):
            refused = await http.request(method, url, json=INITIALIZE, headers=encoded)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert "Authorization: Bearer" in refused.json()["error"]["message"]
            assert TOKEN not in refused.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost:8765", "host": "localhost:8765"}, 200),
        ({"origin": "http://localhost:3000"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost.evil.example:80"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:8765@evil.example", "host": "localhost:8765"}, 403),
        ({"host": "evil.example:8765"}, 403),
        ({"host": "localhost:8765@evil.example"}, 403),
        ({"host": "127.0.0.1:80.evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ],
    ids=str,
)
async def test_requests_of_other_origins_and_hosts_are_refused(
    headers: dict[str, str], status: int
) -> None:
    async with serving() as url, httpx2.AsyncClient() as http:
        answer = await http.post(url, json=INITIALIZE, headers={**ACCEPT, **headers})
    assert answer.status_code == status


async def test_request_beyond_the_limit_is_refused_with_the_time_to_try_again() -> None:
    blocked, release = threading.Event(), threading.Event()

    def open_slowly() -> Any:
        blocked.set()
        release.wait(30)
        raise NotFound("no base here")

    search = call(3, "kb_search", {"query": "roadmap"})
    worker = EngineWorker(open_slowly)
    async with serving(worker, max_requests=2) as url, httpx2.AsyncClient(timeout=SECONDS) as http:
        calls = [asyncio.create_task(http.post(url, json=search, headers=ACCEPT)) for _ in range(2)]
        await asyncio.to_thread(blocked.wait, 30)
        while (refused := await http.post(url, json=LIST, headers=ACCEPT)).status_code == 200:
            pass
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json()["error"]["message"] == (
            "2 requests are being answered, which is the limit (--max-requests); try again in "
            "1 second"
        )
        with pytest.raises(Exception) as told:  # a group, differing by version
            async with Client(url, mode="legacy"):
                pass
        assert "try again in 1 second" in repr(told.value.__dict__) + repr(told.value)
        release.set()
        assert {answer.status_code for answer in await asyncio.gather(*calls)} == {200}
        assert (await http.post(url, json=LIST, headers=ACCEPT)).status_code == 200


async def test_calls_of_clients_that_left_do_not_pile_up() -> None:
    release = threading.Event()
    worker = EngineWorker(lambda: release.wait(30))  # type: ignore[arg-type,return-value]
    try:
        calls = [worker.submit("kb_search", {"query": "roadmap"}) for _ in range(MOST_CALLS)]
        refused = worker.submit("kb_search", {"query": "roadmap"}).result(0)
        assert refused.failure is not None
        assert (refused.failure.type, refused.failure.retry_after_seconds) == ("TRANSIENT", 1.0)
        with pytest.raises(TimeoutError):
            worker.run(lambda kb: kb).result(0)
    finally:
        for call in calls[1:]:
            call.cancel()
        release.set()
        worker.close()


async def test_no_session_is_kept_so_that_any_process_can_answer() -> None:
    async with serving() as url, httpx2.AsyncClient() as http:
        opened = await http.post(url, json=INITIALIZE, headers=ACCEPT)
        assert opened.status_code == 200
        assert "mcp-session-id" not in opened.headers
        of_another_process = {**ACCEPT, "mcp-session-id": "0" * 32}
        assert (await http.post(url, json=LIST, headers=of_another_process)).status_code == 200
        for method in ("GET", "DELETE"):
            refused = await http.request(method, url, headers=ACCEPT)
            assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


async def test_large_and_slow_requests_are_cut() -> None:
    limits = ConnectionLimits(at_once=2, receive_seconds=0.3)
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n"
    async with serving(limits=limits) as url, httpx2.AsyncClient() as http:
        too_large = await http.post(url, content=b"x" * (REQUEST_BYTES + 1), headers=ACCEPT)
        assert too_large.status_code == 413
        port = int(url.split(":")[2].split("/")[0])
        for sent in (b"", head, head + b"\r\n{"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert await asyncio.wait_for(_all_of(reader), SECONDS) == b""
            writer.close()
        flood = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
        assert (await http.post(url, json=LIST, headers=ACCEPT)).status_code == 200
        for _, writer in flood:
            writer.close()


async def test_request_of_many_small_chunks_is_cut() -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with (
        serving(limits=ConnectionLimits(request_bytes=5_000)) as url,
        httpx2.AsyncClient() as http,
    ):
        port = int(url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + 1_000 * b"1\r\n \r\n")
        assert await asyncio.wait_for(_all_of(reader), SECONDS) == b""
        writer.close()
        for _ in range(20):  # of each request for itself
            assert (await http.post(url, json=LIST, headers=ACCEPT)).status_code == 200


async def test_client_that_leaves_in_the_middle_of_a_request_is_counted_as_gone() -> None:
    reports: list[tuple[Any, ...]] = []
    async with serving(report=lambda *values: reports.append(values)) as url:
        port = int(url.split(":")[2].split("/")[0])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\n{")
        await writer.drain()
        writer.close()
        await until(lambda: any(kind == "request" for kind, *_ in reports))
    assert next(values for kind, *values in reports if kind == "request")[0] == 0


async def _all_of(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


def test_token_of_a_file_goes_before_that_of_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    environment = {"KBX_TOKEN": "another-token-of-the-owner"}
    assert access_token(file, environment) == TOKEN
    assert access_token(None, environment) == environment["KBX_TOKEN"]
    assert access_token(None, {}) is None


@pytest.mark.parametrize(
    "token", ["", "short", "with a space in it", "x" * 600, "ümlaut-ümlaut-ümlaut"]
)
def test_token_that_cannot_be_sent_or_is_short_is_refused(tmp_path: Path, token: str) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8")
    for chosen in (file, None):
        with pytest.raises(ConfigError, match="16 to 512") as refused:
            access_token(chosen, {"KBX_TOKEN": token})
        assert not token or token not in str(refused.value)


def test_missing_token_file_is_an_error_that_says_how_to_make_one(
    kbx: CommandLine, fresh_demo: Path, tmp_path: Path
) -> None:
    missing = tmp_path / "no-token"
    ran = kbx("mcp", "--http", "--port", "0", "--token-file", missing, "--kb", fresh_demo)
    assert (ran.code, ran.out) == (2, "")
    assert f"openssl rand -hex 32` > {missing}" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "2"], "--workers needs --http"),
        (["--http", "--metrics-host", "::1"], "--metrics-host needs --metrics-port"),
    ],
)
def test_option_without_an_effect_is_an_error(
    kbx: CommandLine, options: list[str], message: str
) -> None:
    ran = kbx("mcp", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"kbx: {message}\n")


def test_token_is_neither_printed_nor_in_the_list_of_processes(
    fresh_demo: Path, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "kbx_tui", "--kb", str(fresh_demo), "--debug", "mcp", "--http"),
            *("--port", "0", "--token-file", str(file)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=program_environment({}),
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    url = line.split()[4].rstrip(";")
    for sent in (TOKEN, "another"):
        headers = {**ACCEPT, "authorization": f"Bearer {sent}"}
        answer = httpx2.post(url, json=INITIALIZE, headers=headers)
        assert answer.status_code == (200 if sent == TOKEN else 401)
    assert TOKEN not in " ".join(psutil.Process(process.pid).cmdline())
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert TOKEN not in line + out + err + json.dumps(dict(os.environ))
