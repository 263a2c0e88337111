"""Agents get the same notes as people: from every tool, on every surface."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import IndexFault, KnowledgeBase, NotFound
from kbx_tui.api.session import Session
from kbx_tui.tools.dispatch import call, in_words_of_tools
from kbx_tui.tools.engine_worker import EngineWorker
from tests.command_line import CommandLine
from tests.functional.vaults import write_vault
from tests.trusting import copy_base


@pytest.fixture
def base(indexed_vault: Path, tmp_path: Path) -> Path:
    """An indexed base with one file that changed since."""
    base = copy_base(indexed_vault, tmp_path / "base")
    (base / "memory/notes/new.md").write_text("# New\n\nA zorkmid.\n", encoding="utf-8")
    return base


@pytest.fixture
def worker(base: Path) -> Iterator[EngineWorker]:
    worker = EngineWorker(lambda: KnowledgeBase(base))
    yield worker
    worker.close()


def data_of(worker: EngineWorker, name: str, **params: Any) -> Any:
    answer = worker.answer(name, params)
    assert answer.failure is None, answer.json
    json = answer.json.get("data", answer.json)
    return json.get("meta", json)


CALLS: dict[str, dict[str, Any]] = {
    "kb.search": {"query": "rollback"},
    "kb.experts": {"topic": "migration"},
    "kb.capabilities": {},
    "kbx.search": {"query": "rollback"},
    "kbx.links": {"id": "person:alice-chen"},
    "kbx.memory_similar": {"text": "prefers async communication"},
    "kbx.entity_similar_field": {"entity": "Alice Chen", "field": "role", "value": "Director"},
}


@pytest.mark.parametrize(("name", "params"), CALLS.items(), ids=str)
def test_newer_files_are_noted_by_every_tool(
    worker: EngineWorker, name: str, params: dict[str, Any]
) -> None:
    notes = data_of(worker, name, **params)["notes"]
    assert "1 file changed since the last run" in notes


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("kbx.memory_similar", {"text": "x y"}),
        ("kbx.memory_add", {"text": "x y"}),
        ("kbx.entity_similar_field", {"field": "role", "value": "Director"}),
    ],
    ids=str,
)
def test_unknown_entity_may_be_in_a_newer_file(
    base: Path, name: str, params: dict[str, Any]
) -> None:
    reason = "; 1 file changed since the last run; `kbx index` updates the index"
    with KnowledgeBase(base) as kb, pytest.raises(NotFound, match=reason):
        call(kb, name, {**params, "entity": "Zoe Quill"}, allow_writes=True)
    with KnowledgeBase(base) as kb, pytest.raises(NotFound, match=reason):
        kb.memory_similar("x y", entity="Zoe Quill")
    with KnowledgeBase(base) as kb, pytest.raises(NotFound, match=f"{reason}; --create"):
        kb.memory_add("x y", entity="Zoe Quill")


@pytest.mark.parametrize(
    ("name", "argument"), [("kb.search", "query"), ("kbx.search", "query"), ("kb.experts", "topic")]
)
@pytest.mark.parametrize("repeats", [300, 100_000])
def test_long_query_is_cut_with_a_note_by_every_tool(
    worker: EngineWorker, name: str, argument: str, repeats: int
) -> None:
    notes = data_of(worker, name, **{argument: "migration " * repeats})["notes"]
    cut = f"the query has {repeats * 10:,} characters; only the first 2,000 count"
    assert [note for note in notes if "characters" in note] == [cut]


def test_long_name_is_cut_with_a_notice(base: Path) -> None:
    notices: list[str] = []
    with KnowledgeBase(base, notice=notices.append) as kb:
        kb.entities.find("alice " * 200_000)
    assert "the query has 1,200,000 characters; only the first 2,000 count" in notices


def test_newer_files_are_counted_again_after_indexing(worker: EngineWorker) -> None:
    assert data_of(worker, "kb.search", query="rollback")["notes"]
    worker.run(lambda kb: kb.index()).result()
    assert data_of(worker, "kb.search", query="rollback")["notes"] == []


@pytest.mark.parametrize("name", ["kb.search", "kb.experts", "kbx.search", "kbx.memory_similar"])
def test_how_much_was_looked_through_is_stated(worker: EngineWorker, name: str) -> None:
    assert data_of(worker, name, **CALLS[name])["in_scope"] > 0


def test_a_mistyped_path_is_noted(worker: EngineWorker) -> None:
    note = "there are no documents in memory/nowhere; paths start at the root: memory/meetings"
    found = data_of(worker, "kb.search", query="rollback", filters={"path": "memory/nowhere"})
    assert note in found["notes"]
    assert (found["results"], found["in_scope"]) == ([], 0)
    assert note in data_of(worker, "kbx.search", query="rollback", path="memory/nowhere")["notes"]
    similar = data_of(worker, "kbx.memory_similar", text="async", path="memory/nowhere")
    assert "no document matches the path memory/nowhere" in similar["notes"]
    assert similar["in_scope"] == 0


def test_a_known_type_without_documents_is_an_empty_answer(worker: EngineWorker) -> None:
    for name in ("glossary", "lab", "context"):
        found = data_of(worker, "kb.search", query="rollback", filters={"type": name})
        assert found["results"] == []
        assert any(note.startswith(f"no document has type {name}") for note in found["notes"])
    refused = worker.answer("kb.search", {"query": "rollback", "filters": {"type": "spaceship"}})
    assert refused.failure is not None
    assert refused.failure.type == "VALIDATION"


def test_command_line_and_tools_say_the_same(
    worker: EngineWorker, base: Path, kbx: CommandLine
) -> None:
    for query in ("zzz", "zzz type:memo", "zzz in:memory/nowhere"):
        ran = kbx("search", query, "--kb", base)
        notes = data_of(worker, "kbx.search", query=query)["notes"]
        said = [in_words_of_tools(line) for line in ran.err.splitlines()]
        assert sorted(said) == sorted(f"kbx: {note}" for note in notes)
        assert len(notes) >= 2


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("these are documents; `kbx experts` ranks people by what they know about a topic",
         "these are documents; kb_experts ranks people by what they know about a topic"),
        ("meaning 80%: 3 texts have no vector yet; `kbx index` adds them",
         "meaning 80%: 3 texts have no vector yet"),
        ("there is no index yet; `kbx index` builds it",
         "there is no index yet; ask the user to update the index"),
        ("it is damaged: run `kbx index --full` to rebuild it; nothing is lost",
         "it is damaged: ask the user to rebuild the index; nothing is lost"),
        ("no fact has the id 7; `kbx memory list` shows them",
         "no fact has the id 7; kbx_memory_similar finds ids"),
        ("saved, but not committed: the base is not trusted; `kbx trust` lets it run git",
         "saved, but not committed: the base is not trusted; ask the user to trust the base"),
        ("there is no write 7; `kbx undo --list` shows them", "there is no write 7; ask the user"),
    ],
)  # fmt: skip
def test_notes_name_tools_instead_of_commands(said: str, told: str) -> None:
    assert in_words_of_tools(said) == told


@pytest.mark.parametrize(
    "weight", ["Loudness", "", " count", "x" * 5000, 7, None, ["count"], {"a": 1}, True], ids=str
)
def test_any_odd_weight_counts_as_count(worker: EngineWorker, weight: Any) -> None:
    odd = data_of(worker, "kb.experts", topic="migration", weight=weight)
    plain = data_of(worker, "kb.experts", topic="migration")
    assert odd["weight"] == "count"
    assert odd["experts"] == plain["experts"]
    assert odd["notes"][0].startswith("unknown weight")
    assert len(odd["notes"][0]) < 200


def test_experts_say_why_nobody_was_found(worker: EngineWorker) -> None:
    notes = data_of(worker, "kb.experts", topic="submarines")["notes"]
    assert any("is on this topic; the weight relevance also reads documents" in n for n in notes)
    notes = data_of(worker, "kb.experts", topic="migration", min_claims=1000)["notes"]
    assert any("fewer facts than min_claims" in note for note in notes)


def test_a_date_that_is_only_that_of_the_file_is_said(tmp_path: Path, kbx: CommandLine) -> None:
    page = "# Ada\n\n## Facts\n- [2026-01-02] Fired the kiln\n- Owns a kiln\n"
    base = write_vault(tmp_path / "base", {"memory/people/ada.md": page})
    with KnowledgeBase(base) as kb:
        kb.index()
        notes = kb.experts("kiln", weight="recency").notes
        assert "1 of 2 facts has no date; the day its file was changed is used" in notes
        (ada,) = kb.experts("kiln").experts
        assert {receipt.text: receipt.has_file_date for receipt in ada.receipts} == {
            "Fired the kiln": False,
            "Owns a kiln": True,
        }
    shown = kbx("experts", "kiln", "--kb", base).out
    assert "Fired the kiln (2026-01-02)" in shown
    assert ", of the file)" in shown


def test_what_delays_or_degrades_a_call_is_noted(fresh_demo: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(fresh_demo), allow_writes=True)
    first = data_of(worker, "kbx.search", query="rollback", fast=True)["notes"]
    assert any("is not indexed yet" in note for note in first)
    assert data_of(worker, "kbx.search", query="rollback", fast=True)["notes"] == []
    worker.close()


def test_a_write_that_is_not_indexed_says_so(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(base), allow_writes=True)
    params = {"text": "Keeps the porcelain ledger", "entity": "Alice Chen", "force": True}
    data_of(worker, "kb.search", query="rollback")

    def fail(*_: Any, **__: Any) -> Any:
        raise IndexFault("the disk is read-only")

    monkeypatch.setattr(Session, "index", fail)
    added = data_of(worker, "kbx.memory_add", **params)
    assert added["written"] is True
    assert added["hints"] == ["saved, but the index was not updated: the disk is read-only"]
    worker.close()
