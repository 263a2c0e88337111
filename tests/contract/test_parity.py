"""Every surface offers the same methods and gives the same answer to the same call."""

import io
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from kbx_tui import KnowledgeBase
from kbx_tui.cli.main import kbx as program
from kbx_tui.tools import jsonl_server
from kbx_tui.tools.dispatch import call
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tools.methods import METHODS, failure_schema, output_schema
from tests.command_line import CommandLine
from tests.trusting import copy_base

VARYING = {"timings", "duration_ms"}
"""Fields that differ from call to call."""

CALLS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("kb.search", {"query": "Who worked on the migration?"}, []),
    ("kb.search", {"query": "the rota", "capabilities": {"voice": True}}, []),
    ("kb.search", {"query": "pricing", "limit": 8, "filters": {"type": "person"}}, []),
    ("kb.get", {"id": "person:alice-chen"}, []),
    ("kb.get", {"id": "team:platform", "max_chars": 50}, []),
    ("kb.experts", {"topic": "migration"}, ["migration"]),
    (
        "kb.experts",
        {"topic": "rollback drill", "limit": 3, "min_claims": 1, "weight": "citation"},
        ["rollback drill", "--limit", "3", "--min-claims", "1", "--weight", "citation"],
    ),
    ("kb.experts", {"topic": "fares", "weight": "relevance"}, ["fares", "--weight", "relevance"]),
    ("kb.experts", {"topic": "fares", "weight": "nonsense"}, ["fares", "--weight", "nonsense"]),
    ("kb.capabilities", {}, []),
    ("kbx.context", {}, []),
    ("kbx.list", {}, []),
    ("kbx.list", {"path": "memory/people", "text": "SLACK", "limit": 1}, []),
    ("kbx.context", {"tokens": 500}, ["--tokens", "500"]),
    ("kbx.search", {"query": "what did Alice decide?"}, ["what did Alice decide?"]),
    (
        "kbx.search",
        {
            "query": "migration status",
            "limit": 5,
            "path": "memory/meetings/2026/0[1-3]/",
            "types": ["meeting"],
            "from": "2026-01",
            "to": "2026",
            "hierarchy_alpha": 0.7,
            "hierarchy_threshold": 0.4,
            "max_entities": 3,
            "preset": "seed",
            "gate": "hard",
            "parent": "max",
            "hotness": 0.2,
            "explain": True,
        },
        [
            *["migration status", "--limit", "5", "--path", "memory/meetings/2026/0[1-3]/"],
            *["--type", "meeting", "--from", "2026-01", "--to", "2026"],
            *["--hierarchy-alpha", "0.7", "--hierarchy-threshold", "0.4", "--max-entities", "3"],
            *["--preset", "seed", "--gate", "hard", "--parent", "max", "--hotness", "0.2"],
            "--explain",
        ],
    ),
    (
        "kbx.search",
        {"query": "rollback", "fast": True, "tags": ["ops"], "entities": ["person:bob-okafor"]},
        ["rollback", "--fast", "--tag", "ops", "--entity", "person:bob-okafor"],
    ),
    ("kb.search", {"query": "rollback type:meeting @alice", "filters": {"from": "2026"}}, []),
    (
        "kbx.search",
        {"query": 'rollback tag:"ops" to:2026-06 in:memory @bob "type:note"', "from": "2026"},
        ['rollback tag:"ops" to:2026-06 in:memory @bob "type:note"', "--from", "2026"],
    ),
    ("kbx.search", {"query": "rollback", "hierarchy": False}, ["rollback", "--no-hierarchy"]),
    (
        "kbx.links",
        {"id": "memory/people/alice-chen.md"},
        ["memory/people/alice-chen.md"],
    ),
    ("kbx.related", {"id": "memory/people/alice-chen.md"}, ["memory/people/alice-chen.md"]),
    ("kbx.related", {"id": "Migration", "limit": 3}, ["Migration", "--limit", "3"]),
    (
        "kbx.search",
        {"query": "what did Marek say about the rehearsal", "said": ["Marek"], "explain": True},
        ["what did Marek say about the rehearsal", "--said", "Marek", "--explain"],
    ),
    (
        "kbx.search",
        {"query": "rollback", "pin": ["Grace Tully"], "mute": ["platform"], "sort": "date"},
        ["rollback", "--pin", "Grace Tully", "--mute", "platform", "--sort", "date"],
    ),
    (
        "kbx.memory_similar",
        {"text": "prefers async communication", "entity": "Alice Chen", "threshold": 0.8},
        ["prefers async communication", "--entity", "Alice Chen", "--threshold", "0.8"],
    ),
    (
        "kbx.memory_similar",
        {"text": "runs the migration", "path": "memory/projects", "limit": 2, "chunks": True},
        ["runs the migration", "--path", "memory/projects", "--limit", "2", "--chunks"],
    ),
    (
        "kbx.entity_similar_field",
        {"entity": "Alice Chen", "field": "role", "value": "Engineering Director"},
        ["Alice Chen", "--field", "role", "--value", "Engineering Director"],
    ),
]
"""Method, arguments, and the arguments of the command with the same output."""

NEW = {"text": "Collects antique barometers", "entity": "Alice Chen", "date": "2026-05-01"}
KNOWN_TEXT = "Prefers async Slack over email"
NEW_WORDS = [NEW["text"], "--date", "2026-05-01"]
ITEM_WORDS = [*NEW_WORDS, "--kind", "open_item", "--source", "Platform sync"]
WRITES: list[tuple[str, dict[str, Any], list[str], int]] = [
    ("kbx.memory_add", NEW, NEW_WORDS, 0),
    ("kbx.memory_add", {**NEW, "dry_run": True}, [*NEW_WORDS, "--dry-run"], 0),
    (
        "kbx.memory_add",
        {**NEW, "kind": "open-item", "source": "Platform sync"},
        ITEM_WORDS,
        0,
    ),
    ("kbx.memory_add", {**NEW, "text": KNOWN_TEXT}, [KNOWN_TEXT], 3),
    ("kbx.memory_edit_fact", {"text": "Prefers async Slack, in writing"}, [], 0),
    ("kbx.memory_edit_fact", {"text": "Prefers Slack", "dry_run": True}, ["--dry-run"], 0),
    ("kbx.memory_supersede", {"text": "Prefers calls", "date": "2026-05-01"}, [], 0),
    ("kbx.memory_delete_fact", {}, [], 0),
    ("kbx.memory_delete_fact", {"dry_run": True}, ["--dry-run"], 0),
]
"""Method, arguments, words of the command, and its exit code.

Edits receive the id of `KNOWN_TEXT`, and as words the id and their text.
"""

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("kb.search", {"query": "ab"}),
    ("kb.get", {"id": "person:nobody"}),
    ("kb.experts", {}),
    ("kb.capabilities", {"verbose": True}),
    ("kbx.search", {"query": "x", "path": "../outside"}),
    ("kbx.links", {"id": "person:nobody"}),
    ("kbx.list", {"path": "../outside"}),
    ("kbx.related", {"id": "person:alice-chen", "limit": 0}),
    ("kbx.context", {"tokens": 0}),
    ("kbx.memory_similar", {"text": "x", "entity": "Nobody At All"}),
    ("kbx.entity_similar_field", {"entity": "Alice Chen", "field": "role"}),
]


@pytest.fixture(scope="module")
def base(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo, since kb_get records openings."""
    return copy_base(demo_kb_path, tmp_path_factory.mktemp("parity") / "larkwater")


@pytest.fixture(scope="module")
def worker(base: Path) -> Iterator[EngineWorker]:
    opened = EngineWorker(lambda: KnowledgeBase(base))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def kb(base: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(base) as opened:
        yield opened


def steady(value: Any) -> Any:
    """Return an answer without the fields that differ from call to call."""
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if k not in VARYING}
    return [steady(element) for element in value] if isinstance(value, list | tuple) else value


def over_jsonl(worker: EngineWorker, name: str, params: dict[str, Any]) -> Any:
    sink = io.BytesIO()
    request = json.dumps({"id": 7, "method": name, "params": params}).encode()
    jsonl_server.serve(worker, io.BytesIO(request), sink)
    return json.loads(sink.getvalue())


async def test_all_surfaces_offer_the_same_methods(worker: EngineWorker, kbx: CommandLine) -> None:
    names = {name for name, method in METHODS.items() if not method.writes}
    assert set(over_jsonl(worker, "kb.capabilities", {})["result"]["methods"]) == names
    async with Client(make_server(worker, lists_all=True)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools == {METHODS[name].tool for name in names}
    async with Client(make_server(worker)) as client:
        by_default = {tool.name for tool in (await client.list_tools()).tools}
    assert by_default == {METHODS[name].tool for name in names if METHODS[name].is_listed}
    assert {name.replace(".", "_", 1) for name in METHODS} == {m.tool for m in METHODS.values()}
    listed = {line.split()[0] for line in kbx("tool").out.splitlines()}
    assert listed == {method.tool for method in METHODS.values()}
    for name in METHODS:  # every name is known
        error = over_jsonl(worker, name, {"no such argument": 1})["error"]
        assert error["code"] != "method_not_found"


@pytest.mark.parametrize("name", METHODS)
def test_command_of_a_method_exists(name: str) -> None:
    command: click.Command = program
    for word in METHODS[name].command:
        assert isinstance(command, click.Group)
        command = command.commands[word]


def test_calls_cover_every_method() -> None:
    reading = {name for name, method in METHODS.items() if not method.writes}
    assert {name for name, _, _ in CALLS} == {name for name, _ in REFUSED} == reading


@pytest.mark.parametrize(("name", "params", "words"), CALLS, ids=str)
async def test_a_call_gives_the_same_json_on_every_surface(
    kb: KnowledgeBase,
    worker: EngineWorker,
    kbx: CommandLine,
    base: Path,
    name: str,
    params: dict[str, Any],
    words: list[str],
) -> None:
    method = METHODS[name]
    answer_json = json.loads(json.dumps(call(kb, name, params)))
    Draft202012Validator(output_schema(method)).validate(answer_json)
    python = steady(answer_json)
    response = over_jsonl(worker, name, params)
    assert (response["id"], response["ok"]) == (7, True)
    assert steady(response["result"]) == python
    async with Client(make_server(worker)) as client:
        answer = await client.call_tool(method.tool, params)
    assert answer.is_error is False
    assert steady(answer.structured_content) == python
    tool = kbx("tool", method.tool, json.dumps(params), "--kb", base)
    assert tool.code == 0
    assert steady(tool.json) == python
    if words:
        ran = kbx(*method.command, *words, "--json", "--kb", base)
        assert ran.code == 0, ran.err
        assert steady(ran.json) == python


@pytest.mark.parametrize(("name", "params"), REFUSED, ids=str)
async def test_an_invalid_call_gives_the_same_error_on_every_surface(
    worker: EngineWorker,
    kbx: CommandLine,
    base: Path,
    name: str,
    params: dict[str, Any],
) -> None:
    method = METHODS[name]
    failed = worker.answer(name, params).json
    Draft202012Validator(failure_schema()).validate(failed)
    response = over_jsonl(worker, name, params)
    assert (response["ok"], response["error"]) == (False, failed["error"])
    async with Client(make_server(worker)) as client:
        answer = await client.call_tool(method.tool, params)
    assert answer.is_error is True
    assert answer.structured_content == failed
    tool = kbx("tool", method.tool, json.dumps(params), "--kb", base)
    assert (tool.code, tool.json) == (1, failed)


@pytest.mark.parametrize(("name", "params", "words", "code"), WRITES, ids=str)
async def test_a_write_gives_the_same_json_and_file_on_every_surface(
    kbx: CommandLine,
    base: Path,
    tmp_path: Path,
    name: str,
    params: dict[str, Any],
    words: list[str],
    code: int,
) -> None:
    """Each surface writes to its own copy of the base."""
    copies = [copy_base(base, tmp_path / letter / "base") for letter in "abcde"]
    method = METHODS[name]
    with KnowledgeBase(copies[0]) as kb:
        if "entity" in params:
            words = [*words, "--entity", "Alice Chen"]
        else:
            facts = kb.entities.facts(entity="Alice Chen")
            fact_id = next(fact.fact_id for fact in facts if fact.text == KNOWN_TEXT)
            words = [str(fact_id), *([params["text"]] if "text" in params else []), *words]
            words += ["--date", params["date"]] if "date" in params else []
            params = {"fact_id": fact_id, **params}
        python = json.loads(json.dumps(call(kb, name, params, allow_writes=True)))
    Draft202012Validator(output_schema(method)).validate(python)
    assert "[redacted]" not in python["diff"]
    workers = [
        EngineWorker(partial(KnowledgeBase, copy), allow_writes=True) for copy in copies[1:3]
    ]
    assert over_jsonl(workers[0], name, params)["result"] == python
    async with Client(make_server(workers[1])) as client:
        assert (await client.call_tool(method.tool, params)).structured_content == python
    for worker in workers:
        worker.close()
    ran = kbx("tool", method.tool, json.dumps(params), "--allow-writes", "--kb", copies[3])
    assert ran.json == python
    ran = kbx(*method.command, *words, "--json", "--kb", copies[4])
    assert (ran.code, ran.json) == (code, python)
    pages = {(copy / "memory/people/alice-chen.md").read_bytes() for copy in copies}
    assert len(pages) == 1
