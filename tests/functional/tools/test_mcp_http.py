"""Who may call the HTTP server, and what it does when too many do, with the client of the SDK."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from kbx_tui import ConfigError
from kbx_tui.tools.servers.access_token import access_token
from kbx_tui.tools.servers.engine_worker import EngineWorker
from kbx_tui.tools.servers.mcp_http import MAX_SESSIONS, listen, make_app, serve_http
from kbx_tui.tools.servers.mcp_server import tool_of
from tests.command_line import CommandLine, program_environment

TOKEN = "correct-horse-battery-staple"
ACCEPT = {"accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def no_base() -> Any:
    raise AssertionError("listing tools opens no base")


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[str]:
    """Serve in this process and yield the address."""
    worker = EngineWorker(no_base)
    listening, url = listen("127.0.0.1", 0)
    task = asyncio.create_task(serve_http(make_app(worker, **options), listening))
    try:
        yield url
    finally:
        task.cancel()
        await asyncio.wait({task})
        listening.close()
        worker.close()


async def open_session(http: httpx2.AsyncClient, url: str) -> httpx2.Response:
    return await http.post(url, json=INITIALIZE, headers=ACCEPT)


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


async def test_client_beyond_the_last_session_gets_the_reason_and_others_go_on() -> None:
    async with serving(idle_seconds=300.0) as url, httpx2.AsyncClient() as http:
        opened = [await open_session(http, url) for _ in range(MAX_SESSIONS)]
        assert {answer.status_code for answer in opened} == {200}
        refused = await open_session(http, url)
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) == 60
        assert refused.json()["error"]["message"] == (
            "all 64 sessions of this server are in use; close one, or try again in 60 seconds: "
            "idle ones end after 5 minutes without a request"
        )
        session = {**ACCEPT, "mcp-session-id": opened[0].headers["mcp-session-id"]}
        assert (await http.post(url, json=LIST, headers=session)).status_code == 200
        assert (await http.delete(url, headers=session)).status_code == 200
        assert (await open_session(http, url)).status_code == 200


async def test_idle_sessions_make_room() -> None:
    async with serving(idle_seconds=0.5) as url, httpx2.AsyncClient() as http:
        first = await open_session(http, url)
        for _ in range(MAX_SESSIONS):
            await open_session(http, url)
        while (answer := await open_session(http, url)).status_code == 503:
            await asyncio.sleep(0.1)
        assert answer.status_code == 200
        session = {**ACCEPT, "mcp-session-id": first.headers["mcp-session-id"]}
        while (await http.post(url, json=LIST, headers=session)).status_code != 404:
            await asyncio.sleep(0.6)
        async with Client(url, mode="legacy") as client:
            assert (await client.list_tools()).tools


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
