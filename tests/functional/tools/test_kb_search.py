"""`kb.search` and `kb.get`, and what they do without the model."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import (
    EmbeddingRateLimited,
    EmbeddingUnavailable,
    IndexDamaged,
    IndexFault,
    IndexForeign,
    IndexLocked,
    KnowledgeBase,
)
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import SearchResult
from kbx_tui.tools.arguments import KbxSearch
from kbx_tui.tools.dispatch import Answer, failure_of
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.handlers import NEWER_FILE, whole_sentences
from tests.trusting import configure_trusted

LATE = "Ferries run late in spring. "
QUERY = "Who worked on the migration?"


def search(worker: EngineWorker, **params: Any) -> Any:
    answer = worker.answer("kb.search", {"query": QUERY, **params})
    assert answer.failure is None, answer.json
    assert answer.json["ok"] is True
    return answer.json["data"]


def refused(worker: EngineWorker, **params: Any) -> str:
    answer: Answer = worker.answer("kb.search", {"query": QUERY, **params})
    assert answer.json["ok"] is False
    assert answer.json["error"]["type"] == "VALIDATION"
    assert answer.json["error"]["retryable"] is False
    return str(answer.json["error"]["message"])


def test_a_call_without_arguments_asks_what_a_program_asks_by_default() -> None:
    arguments = KbxSearch.model_validate({"query": "rope"})
    assert SearchRequest(**arguments.model_dump()) == SearchRequest("rope")


def test_results_are_ranked_and_name_their_location(demo: EngineWorker) -> None:
    data = search(demo, top_k=10)
    scores = [result["score"] for result in data["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert data["total_found"] == len(data["results"]) == 10
    assert data["total_matched"] > 10
    ids = [result["id"] for result in data["results"]]
    assert len(set(ids)) == len(ids)
    assert not any("_chunk_" in result_id for result_id in ids)
    for result in data["results"]:
        assert len(result["snippet"]) <= 200
        metadata = result["metadata"]
        assert metadata["file_path"].startswith("memory/")
        assert 0 <= metadata["chunk_index"] < metadata["total_chunks"]


def test_voice_limits_results_to_three(demo: EngineWorker) -> None:
    voice = {"voice": True, "messaging": True}
    clamped = search(demo, capabilities=voice)
    assert clamped["clamped"] is True
    assert len(clamped["results"]) == 3
    assert clamped["results"] == search(demo)["results"][:3]
    fewer = search(demo, capabilities=voice, top_k=2)
    assert fewer["clamped"] is False
    assert len(fewer["results"]) == 2
    assert search(demo, capabilities={"voice": False})["clamped"] is False


def test_results_match_all_filters(demo: EngineWorker) -> None:
    people = search(demo, filters={"type": "person"}, top_k=8)
    assert {result["type"] for result in people["results"]} == {"person"}
    assert people["filters_applied"] == {"type": "person"}
    assert search(demo)["filters_applied"] is None
    both = search(demo, filters={"type": "meeting", "path": "memory/people"})
    assert both["results"] == []
    spring = search(demo, filters={"type": "meeting", "from": "2026-03", "to": "2026-03"})
    assert {result["metadata"]["date"][:7] for result in spring["results"]} == {"2026-03"}


def test_results_and_snippets_are_limited_by_arguments(demo: EngineWorker) -> None:
    assert search(demo, limit=2)["results"] == search(demo, top_k=2)["results"]
    assert "top_k" in refused(demo, limit=2, top_k=3)

    results = search(demo, include_snippets=False)["results"]
    assert {result["snippet"] for result in results} == {None}

    data = search(demo, query="quantum computing blockchain NFTs")
    assert data["results"] == []
    assert data["total_found"] == 0


@pytest.mark.parametrize(
    ("snippet", "matches", "told"),
    [
        (f"{LATE * 5}The crew", (), LATE * 5),
        (f"- {'The ferry is late ' * 6} - The crew", (), f"- {'The ferry is late ' * 6}"),
        (f"{LATE * 5}4. The crew", (), LATE * 5),
        (f"{LATE * 5}The crew", ((144, 148),), f"{LATE * 5}The crew …"),
        ("ferry " * 33 + "fe", (), "ferry " * 33 + "…"),
        ("x" * 200, ((190, 200),), "x" * 190 + " …"),
    ],
    ids=["sentence", "item", "number", "match-after-it", "none", "match-at-the-end"],
)  # fmt: skip
def test_a_snippet_ends_at_a_sentence(
    snippet: str, matches: tuple[tuple[int, int], ...], told: str
) -> None:
    result = SearchResult("a.md", "A", "", "note", 0.5, snippet, 1, matches, is_cut=True)
    assert whole_sentences(result).rstrip() == told.rstrip()
    assert len(told) <= 200
    assert whole_sentences(replace(result, is_cut=False)) == snippet


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"query": "ab"}, "query"),
        ({"query": "  a  "}, "query"),
        ({"query": 7}, "query"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 11}, "top_k"),
        ({"top_k": 2.5}, "top_k"),
        ({"top_k": True}, "top_k"),
        ({"filters": {"type": "spaceship"}}, "meeting"),
        ({"filters": {"colour": "red"}}, "colour"),
        ({"filters": {"path": "../.."}}, ".."),
        ({"filters": {"from": "yesterday"}}, "yesterday"),
        ({"filters": {"entity": "person:nobody"}}, "person:nobody"),
        ({"capabilities": {"voice": "yes"}}, "voice"),
        ({"nonsense": 1}, "nonsense"),
    ],
    ids=str,
)
def test_invalid_arguments_are_refused_by_name(
    demo: EngineWorker, params: dict[str, Any], name: str
) -> None:
    assert name in refused(demo, **params)


def test_search_without_an_index_is_empty_and_writes_nothing(fresh_demo: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(fresh_demo))
    data = search(worker)
    assert data["results"] == []
    assert "there is no index yet" in data["notes"][0]
    assert not (fresh_demo / ".kbx").exists()
    worker.close()


def test_missing_base_is_an_error(tmp_path: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(tmp_path / "nowhere"))
    assert "not a folder" in refused(worker)
    worker.close()


def test_read_only_tools_write_nothing(demo: EngineWorker, tools_demo: Path) -> None:
    """The record of openings and the cache of compared files, beside the index, are exceptions."""
    exceptions = ("usage.jsonl", "usage.lock", "file-hashes.json")

    def digest() -> list[str]:
        files = sorted(file for file in tools_demo.rglob("*") if file.is_file())
        files = [file for file in files if file.name not in exceptions]
        return [f"{file} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]

    search(demo)  # the first one of a copy notes which files of the index it compared
    before = digest()
    search(demo, query="rollback")
    for name, params in (
        ("kb.get", {"id": "person:alice-chen"}),
        ("kb.experts", {"topic": "migration"}),
        ("kbx.search", {"query": "rollback"}),
        ("kbx.memory_similar", {"text": "prefers async communication"}),
    ):
        assert demo.answer(name, params).failure is None
    assert digest() == before


def get(worker: EngineWorker, **params: Any) -> Any:
    answer = worker.answer("kb.get", params)
    assert answer.failure is None, answer.json
    return answer.json["data"]


def test_entity_id_returns_its_page_whole_or_in_parts(demo: EngineWorker) -> None:
    data = get(demo, id="person:alice-chen")
    assert (data["type"], data["title"]) == ("person", "Alice Chen")
    assert data["content"].startswith("# Alice Chen")
    assert data["metadata"]["file_path"] == "memory/people/alice-chen.md"
    assert data["metadata"]["team"] == "Platform"
    assert data["chunks_count"] > 0
    assert data["next_offset"] is None

    whole = get(demo, id="person:alice-chen")["content"]
    parts, offset = [], 0
    while offset is not None:
        part = get(demo, id="person:alice-chen", offset=offset, max_chars=100)
        parts.append(part["content"])
        offset = part["next_offset"]
    assert "".join(parts) == whole
    assert get(demo, id="person:alice-chen", offset=10**6)["content"] == ""


def test_every_id_returned_by_a_search_can_be_read(demo: EngineWorker) -> None:
    found = demo.answer("kb.search", {"query": "migration rollback", "top_k": 10}).json
    for result in found["data"]["results"]:
        data = get(demo, id=result["id"])
        assert data["id"] == result["id"]
        assert data["metadata"]["file_path"] == result["metadata"]["file_path"]
    assert get(demo, id=result["metadata"]["file_path"])["id"] == result["id"]


def test_lines_of_a_page_are_those_of_its_file(demo: EngineWorker, tools_demo: Path) -> None:
    page = "memory/people/alice-chen.md"
    rows = (tools_demo / page).read_text(encoding="utf-8").splitlines(keepends=True)
    top = rows.index("# Alice Chen\n") + 1
    whole = get(demo, id=page)["content"]
    assert get(demo, id=page, lines=f"{top}-{top + 6}")["content"] == "".join(
        rows[top - 1 : top + 6]
    )
    part = get(demo, id=page, lines=f"{top + 2}")
    assert part["content"] == rows[top + 1]
    rest = get(demo, id=page, offset=part["next_offset"])["content"]
    assert whole.endswith(part["content"] + rest)
    assert get(demo, id=page, lines="1-999999999")["content"] == whole
    for lines in ("0", "9-3", "x", "", f"{len(rows) + 1}"):
        answer = demo.answer("kb.get", {"id": page, "lines": lines})
        assert answer.json["error"]["type"] == "VALIDATION", lines


def test_several_are_read_at_once_within_one_limit(demo: EngineWorker) -> None:
    ids = ["person:alice-chen", "memory/people/marek-dvorak.md"]
    alice, marek = (get(demo, id=each) for each in ids)
    assert get(demo, ids=ids)["pages"] == [alice, marek]
    length = len(alice["content"])
    first, second = get(demo, ids=ids, max_chars=length)["pages"]
    assert first == alice
    assert (second["content"], second["next_offset"]) == ("", 0)
    unknown = {"ids": [*ids, "nobody"]}
    calls: list[dict[str, Any]] = [{}, {"ids": []}, unknown, {"id": ids[0], "ids": ids}]
    for wrong in calls:
        assert demo.answer("kb.get", wrong).json["error"]["type"] == "VALIDATION"


@pytest.mark.parametrize(
    "document_id",
    [
        "person:nobody",
        "../../../etc/passwd",
        "/etc/passwd",
        "memory/../../etc/passwd",
        "%2e%2e%2fetc%2fpasswd",
        "kbx.toml",
        ".kbx/index",
        "memory/people/alice-chen.md\x00.png",
        "' OR '1'='1",
    ],
)
def test_id_outside_the_base_is_refused(demo: EngineWorker, document_id: str) -> None:
    answer = demo.answer("kb.get", {"id": document_id})
    assert answer.failure is not None
    assert answer.failure.type == "VALIDATION"


def test_reading_a_page_records_one_opening(demo: EngineWorker, tools_demo: Path) -> None:
    usage = tools_demo / ".kbx" / "usage.jsonl"
    before = usage.read_text(encoding="utf-8").count("marek-dvorak") if usage.exists() else 0
    get(demo, id="person:marek-dvorak", max_chars=10)
    get(demo, id="person:marek-dvorak", offset=10)
    assert usage.read_text(encoding="utf-8").count("marek-dvorak") == before + 1


def test_a_file_that_changed_and_cannot_be_indexed_now_has_a_note(demo_copy: Path) -> None:
    page = demo_copy / "memory/people/alice-chen.md"
    worker = EngineWorker(lambda: KnowledgeBase(demo_copy))
    assert get(worker, id="person:alice-chen")["notes"] == []
    page.write_text(page.read_text("utf-8") + "\nPlays the cello.\n", encoding="utf-8")
    with writer_lock(demo_copy):
        data = get(worker, id="person:alice-chen")
    assert "Plays the cello." in data["content"]
    assert data["notes"] == [NEWER_FILE]
    assert get(worker, id="person:alice-chen")["notes"] == []
    worker.close()


PAGE = "# Ada\n\n## Facts\n- Fires the kiln\n"


@pytest.fixture
def remote_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base with a remote model, its text indexed and no API key set."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "ada.md").write_text(PAGE, encoding="utf-8")
    configure_trusted(tmp_path, '[embedding]\nmodel = "gemini"\n')
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    return tmp_path


def test_missing_api_key_is_an_auth_error_and_fast_search_works(remote_model: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(remote_model))
    refused = worker.answer("kb.search", {"query": "kiln firing"})
    assert refused.json["ok"] is False
    assert refused.json["error"]["type"] == "AUTH"
    assert refused.json["error"]["retryable"] is False
    assert "GEMINI_API_KEY" in refused.json["error"]["message"]
    assert worker.answer("kbx.search", {"query": "kiln", "fast": True}).failure is None
    assert worker.answer("kb.experts", {"topic": "kiln"}).failure is None
    assert worker.answer("kb.capabilities", {}).json["retrieval"] == ["fts"]
    worker.close()


def test_index_of_another_model_is_an_internal_error(demo_copy: Path) -> None:
    configure_trusted(demo_copy, '[embedding]\nmodel = "gemini"\n')
    worker = EngineWorker(lambda: KnowledgeBase(demo_copy))
    refused = worker.answer("kb.search", {"query": "migration"})
    assert refused.failure is not None
    assert (refused.failure.type, refused.failure.retryable) == ("INTERNAL", False)
    assert "ask the user to rebuild the index" in refused.failure.message
    worker.close()


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (IndexDamaged("cut off"), "INTERNAL", False),
        (IndexFault("gone"), "TRANSIENT", True),
        (IndexLocked("busy"), "TRANSIENT", True),
        (IndexForeign("other"), "INTERNAL", False),
        (EmbeddingUnavailable("slow"), "TRANSIENT", True),
        (EmbeddingRateLimited("full"), "RATE_LIMIT", True),
        (RuntimeError("secret /home/somebody"), "INTERNAL", False),
        (MemoryError(), "INTERNAL", False),
    ],
    ids=repr,
)
def test_type_of_an_error_decides_whether_it_is_retryable(
    error: Exception, kind: str, retryable: bool
) -> None:
    failure = failure_of(error)
    assert (failure.type, failure.retryable) == (kind, retryable)
    assert "secret" not in failure.message
