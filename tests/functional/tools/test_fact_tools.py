"""Ids of facts lead to the facts, and tools change them."""

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
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault

ADA = "memory/people/ada.md"
TEXT = """# Ada Reed

Of the harbour.

## Recent Facts
- [2026-01-01] Mends the nets of the harbour boats (source: Kickoff)
- [2026-01-02] Prefers written async updates
- [2026-01-03] Owns a red boat #redacted

## Open Items
- [x] Paint the pier
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return index_vault(tmp_path, {ADA: TEXT})


@pytest.fixture
def ids(base: Path) -> dict[str, int]:
    with KnowledgeBase(base) as kb:
        return {fact.text.split()[0]: fact.fact_id for fact in kb.entities.facts()}


@pytest.fixture
def worker(base: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(base), allow_writes=True)
    yield engine
    engine.close()


def get(worker: EngineWorker, fact_id: int | str) -> dict[str, Any]:
    data: dict[str, Any] = worker.answer("kb.get", {"id": fact_id}).json["data"]
    return data


def test_kb_get_returns_a_fact_by_its_id(worker: EngineWorker, ids: dict[str, int]) -> None:
    data = get(worker, ids["Mends"])
    assert (data["type"], data["title"]) == ("fact", "Ada Reed")
    assert data["content"] == "Mends the nets of the harbour boats"
    assert data["metadata"]["file_path"] == ADA
    assert data["metadata"]["date"] == "2026-01-01"
    assert data["fact"] == {
        "fact_id": ids["Mends"],
        "line": 6,
        "status": "active",
        "done": False,
        "sources": ["Kickoff"],
        "confidence": 0.7,
    }
    assert get(worker, str(ids["Mends"])) == data
    item = get(worker, ids["Paint"])
    assert (item["type"], item["fact"]["done"]) == ("open_item", True)
    assert item["fact"]["sources"] == [ADA]


def test_a_redacted_fact_has_no_id(worker: EngineWorker, base: Path, ids: dict[str, int]) -> None:
    for method in ("kb.get", "kbx.memory_delete_fact", "kbx.memory_supersede"):
        key = "id" if method == "kb.get" else "fact_id"
        refused = worker.answer(method, {key: ids["Owns"]}).json["error"]["message"]
        unknown = worker.answer(method, {key: 12345}).json["error"]["message"]
        assert refused == unknown.replace("12345", str(ids["Owns"]))
    assert (base / ADA).read_text("utf-8") == TEXT


def test_a_fact_marked_while_serving_is_neither_read_nor_changed(
    worker: EngineWorker, base: Path, ids: dict[str, int]
) -> None:
    get(worker, ids["Prefers"])
    page = base / ADA
    page.write_text(TEXT.replace("updates", "updates (redacted)"), "utf-8")
    arguments = {"fact_id": ids["Prefers"], "text": "Prefers calls"}
    for method, params in (("kb.get", {"id": ids["Prefers"]}), ("kbx.memory_edit_fact", arguments)):
        failed = worker.answer(method, params)
        assert failed.failure is not None
        assert "async" not in str(failed.json)
    assert "Prefers calls" not in page.read_text("utf-8")


def test_the_merge_of_the_original_request_through_tools(worker: EngineWorker, base: Path) -> None:
    draft = {"text": "Prefers async updates in writing", "entity": "Ada Reed"}
    (match, *_) = worker.answer("kbx.memory_similar", {**draft, "threshold": 0.5}).json["matches"]
    merged = {"fact_id": match["fact_id"], "text": "Prefers written async updates, daily"}
    trial = worker.answer("kbx.memory_edit_fact", {**merged, "dry_run": True}).json
    assert not trial["written"]
    assert "+- [2026-01-02] Prefers written async updates, daily" in trial["diff"]
    assert "red boat" not in trial["diff"]
    assert (base / ADA).read_text("utf-8") == TEXT
    done = worker.answer("kbx.memory_edit_fact", merged).json
    assert done["written"]
    assert get(worker, done["fact_id"])["content"] == merged["text"]
    struck = worker.answer("kbx.memory_supersede", {"fact_id": done["fact_id"]}).json
    assert struck["written"]
    deleted = worker.answer("kbx.memory_delete_fact", {"fact_id": done["fact_id"]}).json
    assert deleted["written"]
    with KnowledgeBase(base) as kb:
        told = [entry.description.split()[1] for entry in kb.undoable()]
        assert told == ["delete-fact", "supersede", "edit-fact"]
        for _ in told:
            kb.undo()
    assert (base / ADA).read_text("utf-8") == TEXT


@pytest.mark.parametrize("name", ["edit-fact", "supersede"])
def test_a_text_that_another_fact_says_is_not_written(
    worker: EngineWorker, base: Path, ids: dict[str, int], kbx: CommandLine, name: str
) -> None:
    text, method = "Prefers written async updates", f"kbx.memory_{name.replace('-', '_')}"
    same = {"fact_id": ids["Mends"], "text": text}
    answer = worker.answer(method, same).json
    assert (answer["written"], answer["diff"]) == (False, "")
    assert [match["fact_id"] for match in answer["matches"]] == [ids["Prefers"]]
    command = ("memory", name, str(ids["Mends"]), text, "--kb", base)
    ran = kbx(*command, "--json")
    assert (ran.code, ran.json) == (3, answer)
    refused = kbx(*command)
    assert (refused.code, "--force writes it anyway" in refused.err) == (3, True)
    trial = worker.answer(method, {**same, "dry_run": True}).json
    assert trial["matches"] == answer["matches"]
    assert trial["diff"]
    assert kbx(*command, "--dry-run").code == 3
    assert (base / ADA).read_text("utf-8") == TEXT
    assert kbx(*command, "--force").code == 0
    page = (base / ADA).read_text("utf-8")
    assert page.count(text) == 2
    assert ("~~Mends the nets of the harbour boats~~" in page) == (name == "supersede")


@pytest.mark.parametrize("method", ["kbx.memory_supersede", "kbx.memory_edit_fact"])
def test_a_new_text_is_not_compared_with_the_fact_it_replaces(
    worker: EngineWorker, ids: dict[str, int], method: str
) -> None:
    changed = {"fact_id": ids["Prefers"], "text": "Prefers written, async updates"}
    answer = worker.answer(method, changed).json
    assert (answer["written"], answer["matches"]) == (True, [])


@pytest.mark.parametrize("text", ["Likes tea #redacted", "[x] Likes tea", "- [ ] Likes tea", "!!!"])
def test_a_text_that_would_be_read_differently_is_an_invalid_request(
    worker: EngineWorker, base: Path, ids: dict[str, int], text: str
) -> None:
    for method, whose in (
        ("kbx.memory_add", {"entity": "Ada Byron"}),
        ("kbx.memory_edit_fact", {"fact_id": ids["Mends"]}),
        ("kbx.memory_supersede", {"fact_id": ids["Mends"]}),
    ):
        refused = worker.answer(method, {"text": text, **whose})
        assert refused.failure is not None
        assert (refused.failure.type, refused.failure.code) == ("VALIDATION", "invalid_request")
    assert (base / ADA).read_text("utf-8") == TEXT


def test_facts_are_changed_only_with_leave(base: Path, ids: dict[str, int]) -> None:
    reading = EngineWorker(lambda: KnowledgeBase(base))
    for tool in ("kbx_memory_edit_fact", "kbx_memory_supersede", "kbx_memory_delete_fact"):
        refused = reading.answer(tool, {"fact_id": ids["Mends"], "text": "x"})
        assert refused.json["error"]["code"] == "permission_denied"
    reading.close()


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


@pytest.mark.parametrize("name", ["kbx.memory_similar", "kbx.memory_add"])
def test_answer_with_matches_is_valid(worker: EngineWorker, name: str) -> None:
    answer = worker.answer(name, {"text": "prefers written async updates", "entity": "Ada"}).json
    Draft202012Validator(output_schema(METHODS[name])).validate(answer)
    assert answer["matches"][0]["reason"] == "the same text"
