"""The only tool that writes: off by default, and never the same fact twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tools.methods import METHODS, output_schema

NEW = {"text": "Collects antique barometers", "entity": "Alice Chen", "date": "2026-05-01"}


@pytest.fixture
def writing(demo_copy: Path) -> Iterator[EngineWorker]:
    worker = EngineWorker(lambda: KnowledgeBase(demo_copy), allow_writes=True)
    yield worker
    worker.close()


def add(worker: EngineWorker, **params: Any) -> Any:
    answer = worker.answer("kbx.memory_add", {**NEW, **params})
    assert answer.failure is None, answer.json
    Draft202012Validator(output_schema(METHODS["kbx.memory_add"])).validate(answer.json)
    return answer.json


def page(demo_copy: Path) -> str:
    return (demo_copy / "memory/people/alice-chen.md").read_text(encoding="utf-8")


def test_added_fact_is_written_and_found(writing: EngineWorker, demo_copy: Path) -> None:
    written = add(writing)
    assert written["written"] is True
    assert "antique barometers" in page(demo_copy)
    assert written["diff"].count("\n+") >= 1
    found = writing.answer("kbx.memory_similar", {"text": NEW["text"], "entity": "Alice Chen"}).json
    assert found["matches"][0]["fact_id"] == written["fact_id"]


def test_known_fact_is_written_only_with_force(writing: EngineWorker, demo_copy: Path) -> None:
    before = page(demo_copy)
    written = add(writing, text="Prefers async Slack over email")
    assert written["written"] is False
    assert written["matches"][0]["relation"] == "exact"
    assert page(demo_copy) == before
    assert add(writing, text="Prefers async Slack over email", force=True)["written"] is True


def test_dry_run_writes_nothing(writing: EngineWorker, demo_copy: Path) -> None:
    before = page(demo_copy)
    written = add(writing, dry_run=True)
    assert written["written"] is False
    assert "antique barometers" in written["diff"]
    assert page(demo_copy) == before


def test_diff_of_a_page_with_redactions_has_no_context_lines(
    writing: EngineWorker, demo_copy: Path
) -> None:
    file = demo_copy / "memory/people/alice-chen.md"
    text = page(demo_copy).replace("- [2026-04-10]", "- #redacted [2026-04-10]")
    file.write_text(text, encoding="utf-8")
    assert "Friday" not in add(writing, dry_run=True)["diff"]


async def test_writes_are_refused_by_default(demo_copy: Path) -> None:
    before = page(demo_copy)
    worker = EngineWorker(lambda: KnowledgeBase(demo_copy))
    refused = worker.answer("kbx.memory_add", NEW)
    assert refused.failure is not None
    assert refused.failure.code == "permission_denied"
    assert "--allow-writes" in refused.failure.message
    capabilities = worker.answer("kb.capabilities", {}).json
    assert "kbx.memory_add" not in capabilities["methods"]
    async with Client(make_server(worker)) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "kbx_memory_add" not in listed
        assert (await client.call_tool("kbx_memory_add", NEW)).is_error is True
    worker.close()
    assert page(demo_copy) == before


async def test_writing_tool_is_listed_with_allow_writes(writing: EngineWorker) -> None:
    async with Client(make_server(writing)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        annotations = tools["kbx_memory_add"].annotations
        assert annotations is not None
        assert annotations.read_only_hint is False
        added = await client.call_tool("kbx_memory_add", NEW)
    assert added.structured_content["written"] is True
    assert writing.answer("kb.capabilities", {}).json["writes"] is True
