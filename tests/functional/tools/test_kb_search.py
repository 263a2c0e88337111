from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.dispatch import Answer
from kbx_tui.tools.engine_worker import EngineWorker

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


def test_unrelated_query_returns_an_empty_list(demo: EngineWorker) -> None:
    data = search(demo, query="quantum computing blockchain NFTs")
    assert data["results"] == []
    assert data["total_found"] == 0


def test_snippets_are_optional(demo: EngineWorker) -> None:
    results = search(demo, include_snippets=False)["results"]
    assert {result["snippet"] for result in results} == {None}


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
    assert "kbx index" in data["notes"][0]
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
