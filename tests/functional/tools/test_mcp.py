"""The MCP server, called by the client of the SDK over real pipes."""

import asyncio
import json
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters

from kbx_tui import ConfigError, KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_http import listen
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tools.methods import METHODS
from tests.command_line import program_environment
from tests.functional.tools.mcp_requests import INITIALIZE, LIST, ToolServer, call
from tests.functional.vaults import write_vault


def program(base: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "kbx_tui", "--kb", str(base), "mcp", *options],
        env=program_environment({}),
    )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_lists_and_calls_tools_over_pipes(demo_kb_path: Path, mode: str) -> None:
    async with Client(program(demo_kb_path, "--list-all"), mode=mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [
            method.tool for method in METHODS.values() if not method.writes
        ]
        for tool in listed:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.output_schema is not None
        found = await client.call_tool("kb_search", {"query": "who runs the migration?"})
        assert found.is_error is False
        assert found.structured_content["ok"] is True  # the client held it to the schema
        text = found.content[0].text  # type: ignore[union-attr]
        assert json.loads(text) == found.structured_content
        wrong = await client.call_tool("kb_experts", {"topic": ""})
        assert wrong.is_error is True
        assert wrong.structured_content["error"]["type"] == "VALIDATION"
        unknown = await client.call_tool("rm_rf", {})
        assert unknown.structured_content["error"]["code"] == "method_not_found"


@pytest.mark.parametrize(("writes", "most"), [(False, 8_000), (True, 10_500)])
async def test_tools_are_listed_in_few_bytes_and_others_can_be_called(
    demo_kb_path: Path, *, writes: bool, most: int
) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(demo_kb_path), allow_writes=writes)
    async with Client(make_server(worker)) as client:
        listed = await client.list_tools()
        assert len(listed.model_dump_json(by_alias=True, exclude_unset=True)) < most
        assert "kbx_search" not in {tool.name for tool in listed.tools}
        answer = await client.call_tool("kbx_search", {"query": "migration", "limit": 1})
        assert len(answer.structured_content["results"]) == 1
    worker.close()


async def test_servers_of_two_bases_answer_from_their_own(tmp_path: Path) -> None:
    roots = [
        write_vault(tmp_path / name, {f"{name}.md": f"# Rollback of {name}\n\nIt took an hour.\n"})
        for name in ("notes", "work")
    ]
    for root in roots:
        with KnowledgeBase(root) as base:
            base.index(fast=True)
    workers = [EngineWorker(partial(KnowledgeBase, root)) for root in roots]
    async with Client(make_server(workers[0])) as notes, Client(make_server(workers[1])) as work:
        for client, name in ((notes, "notes"), (work, "work")):
            answer = await client.call_tool("kb_search", {"query": "rollback hour"})
            data = answer.structured_content["data"]
            assert [row["metadata"]["file_path"] for row in data["results"]] == [f"{name}.md"]


async def test_every_resource_can_be_read_and_nothing_outside(demo_kb_path: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(demo_kb_path))
    async with Client(make_server(worker)) as client:
        listed = (await client.list_resources()).resources
        assert len(listed) == len(list((demo_kb_path / "memory").rglob("*.md")))
        for resource in listed[::7]:
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.text.strip()  # type: ignore[union-attr]
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.name for template in templates] == ["document", "entity"]
        for outside in (
            "kbx://document/../../etc/passwd",
            "kbx://document/%2e%2e/%2e%2e/etc/passwd",
            "kbx://document//etc/passwd",
            "file:///etc/passwd",
            "kbx://entity/person%3Anobody",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(outside)
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="-1; drop table")
    worker.close()


async def test_concurrent_clients_get_their_own_answers(demo_kb_path: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(demo_kb_path))
    topics = ["migration", "rollback", "fares", "scanner", "privacy", "rota", "boarding", "tide"]
    alone = {topic: worker.answer("kb.experts", {"topic": topic}).json for topic in topics}

    async def ask(topic: str) -> None:
        async with Client(make_server(worker)) as client:
            for _ in range(5):
                answer = await client.call_tool("kb_experts", {"topic": topic})
                assert answer.structured_content == alone[topic]

    await asyncio.gather(*map(ask, topics))
    worker.close()


def test_stdout_has_only_responses(demo_copy: Path) -> None:
    """Progress of indexing and messages of the model go elsewhere; a huge request goes nowhere."""
    requests = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(9, "kbx_search", {"query": "migration " * 2_000_000}),
        call(2, "kbx_search", {"query": "migration", "limit": 1}),
        call(3, "kb_capabilities", {}),
    ]
    process = ToolServer(demo_copy, "mcp")
    process.send(*requests)
    lines = [process.answer() for _ in range(4)]
    out, err = process.communicate(timeout=60)
    answers = {line["id"]: line for line in lines}
    assert answers.keys() == {1, None, 2, 3}
    assert answers[None]["error"]["message"] == "a line has at most 1,000,000 bytes"
    assert out == b""
    assert b"Traceback" not in err
    assert process.returncode == 0


def test_server_initializes_before_the_base_is_opened_and_ends_with_its_client(
    tmp_path: Path,
) -> None:
    """A missing index and a missing model do not matter for initialize."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "note.md").write_text("# Note\n", encoding="utf-8")
    (tmp_path / "kbx.toml").write_text('[embedding]\nmodel = "/no/model"\n', encoding="utf-8")
    process = ToolServer(tmp_path, "mcp")
    assert process.stdin and process.stdout and process.stderr
    process.send(INITIALIZE)
    assert process.answer()["result"]["serverInfo"]["name"] == "kbx-tui"
    assert not (tmp_path / ".kbx").exists()
    process.stdout.close()
    process.send(INITIALIZE)
    assert process.wait(timeout=60) == 0  # while stdin is open
    assert process.stderr.read() == b""
    process.stderr.close()
    process.stdin.close()


@pytest.mark.slow
def test_no_more_is_read_from_a_client_that_reads_no_answers(tmp_path: Path) -> None:
    """Each answer that waits takes memory; all are sent once the client reads."""
    count, meta = 600, {"_meta": {"filler": "x" * 1_000}}
    process = ToolServer(tmp_path, "mcp")
    process.send(INITIALIZE)
    assert process.answer()
    requests = [{**LIST, "id": 1 + n, "params": meta} for n in range(count)]
    writing = threading.Thread(target=process.send, args=requests)
    writing.start()
    writing.join(10.0)  # of seconds; a server that read on would have read all of it
    assert writing.is_alive()
    answered = {process.answer()["id"] for _ in range(count)}
    assert answered == set(range(1, count + 1))
    writing.join()
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.com", ""])
def test_listening_on_an_address_that_is_not_loopback_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1"):
        listen(host, 0)


@pytest.mark.parametrize(
    ("host", "address"), [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1")]
)
def test_loopback_addresses_are_accepted(host: str, address: str) -> None:
    listening, url = listen(host, 0)
    with listening:
        assert listening.getsockname()[0] == address
    assert url.endswith("/mcp")


async def test_call_that_times_out_is_a_retryable_error(demo_kb_path: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(demo_kb_path), timeout=0.0)
    async with Client(make_server(worker)) as client:
        late = await client.call_tool("kb_experts", {"topic": "migration"})
    assert late.is_error is True
    assert late.structured_content["error"]["type"] == "TRANSIENT"
    assert late.structured_content["error"]["retryable"] is True
    worker.close()
