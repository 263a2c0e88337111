"""The only tool that writes: off unless asked for, and never twice the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from kbx_tui import KnowledgeBase
from kbx_tui.tools.contracts.schemas import output_schema
from kbx_tui.tools.servers.calling import Workplace
from kbx_tui.tools.servers.mcp_server import make_server
from kbx_tui.tools.servers.methods import METHODS

NEW = {"text": "Collects antique barometers", "entity": "Alice Chen", "date": "2026-05-01"}


@pytest.fixture
def writing(demo_copy: Path) -> Iterator[Workplace]:
    workplace = Workplace(lambda: KnowledgeBase(demo_copy), allow_writes=True)
    yield workplace
    workplace.close()


def add(workplace: Workplace, **given: Any) -> Any:
    answer = workplace.answer("kbx.memory_add", {**NEW, **given})
    assert answer.failure is None, answer.json
    Draft202012Validator(output_schema(METHODS["kbx.memory_add"])).validate(answer.json)
    return answer.json


def page(demo_copy: Path) -> str:
    return (demo_copy / "memory/people/alice-chen.md").read_text(encoding="utf-8")


def test_a_fact_is_written_and_found(writing: Workplace, demo_copy: Path) -> None:
    told = add(writing)
    assert told["written"] is True
    assert "antique barometers" in page(demo_copy)
    assert told["diff"].count("\n+") >= 1
    found = writing.answer("kbx.memory_similar", {"text": NEW["text"], "entity": "Alice Chen"}).json
    assert found["matches"][0]["fact_id"] == told["fact_id"]


def test_what_is_known_is_not_written_again(writing: Workplace, demo_copy: Path) -> None:
    before = page(demo_copy)
    told = add(writing, text="Prefers async Slack over email")
    assert told["written"] is False
    assert told["matches"][0]["relation"] == "exact"
    assert page(demo_copy) == before
    assert add(writing, text="Prefers async Slack over email", force=True)["written"] is True


def test_a_dry_run_writes_nothing(writing: Workplace, demo_copy: Path) -> None:
    before = page(demo_copy)
    told = add(writing, dry_run=True)
    assert told["written"] is False
    assert "antique barometers" in told["diff"]
    assert page(demo_copy) == before


def test_lines_around_it_are_not_told(writing: Workplace, demo_copy: Path) -> None:
    file = demo_copy / "memory/people/alice-chen.md"
    text = page(demo_copy).replace("- [2026-04-10]", "- #redacted [2026-04-10]")
    file.write_text(text, encoding="utf-8")
    assert "Friday" not in add(writing, dry_run=True)["diff"]


async def test_without_leave_nobody_writes(demo_copy: Path) -> None:
    before = page(demo_copy)
    workplace = Workplace(lambda: KnowledgeBase(demo_copy))
    refused = workplace.answer("kbx.memory_add", NEW)
    assert refused.failure is not None
    assert refused.failure.code == "permission_denied"
    assert "--allow-writes" in refused.failure.message
    capabilities = workplace.answer("kb.capabilities", {}).json
    assert "kbx.memory_add" not in capabilities["methods"]
    async with Client(make_server(workplace)) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "kbx_memory_add" not in listed
        assert (await client.call_tool("kbx_memory_add", NEW)).is_error is True
    workplace.close()
    assert page(demo_copy) == before


async def test_with_leave_it_is_told_as_a_writer(writing: Workplace) -> None:
    async with Client(make_server(writing)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        annotations = tools["kbx_memory_add"].annotations
        assert annotations is not None
        assert annotations.read_only_hint is False
        added = await client.call_tool("kbx_memory_add", NEW)
    assert added.structured_content["written"] is True
    assert writing.answer("kb.capabilities", {}).json["writes"] is True
