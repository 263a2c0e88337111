from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.servers.calling import Answer, Workplace

QUERY = "Who worked on the migration?"


def search(workplace: Workplace, **given: Any) -> Any:
    answer = workplace.answer("kb.search", {"query": QUERY, **given})
    assert answer.failure is None, answer.json
    assert answer.json["ok"] is True
    return answer.json["data"]


def refused(workplace: Workplace, **given: Any) -> str:
    answer: Answer = workplace.answer("kb.search", {"query": QUERY, **given})
    assert answer.json["ok"] is False
    assert answer.json["error"]["type"] == "VALIDATION"
    assert answer.json["error"]["retryable"] is False
    return str(answer.json["error"]["message"])


def test_results_are_ranked_and_can_be_audited(demo: Workplace) -> None:
    data = search(demo, top_k=10)
    scores = [one["score"] for one in data["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert data["total_found"] == len(data["results"]) == 10
    assert data["total_matched"] > 10
    ids = [one["id"] for one in data["results"]]
    assert len(set(ids)) == len(ids)
    assert not any("_chunk_" in one for one in ids)
    for one in data["results"]:
        assert len(one["snippet"]) <= 200
        where = one["metadata"]
        assert where["file_path"].startswith("memory/")
        assert 0 <= where["chunk_index"] < where["total_chunks"]


def test_voice_gets_three_and_never_more_than_asked(demo: Workplace) -> None:
    voice = {"voice": True, "messaging": True}
    clamped = search(demo, capabilities=voice)
    assert clamped["clamped"] is True
    assert len(clamped["results"]) == 3
    assert clamped["results"] == search(demo)["results"][:3]
    less = search(demo, capabilities=voice, top_k=2)
    assert less["clamped"] is False
    assert len(less["results"]) == 2
    assert search(demo, capabilities={"voice": False})["clamped"] is False


def test_filters_all_hold(demo: Workplace) -> None:
    people = search(demo, filters={"type": "person"}, top_k=8)
    assert {one["type"] for one in people["results"]} == {"person"}
    assert people["filters_applied"] == {"type": "person"}
    assert search(demo)["filters_applied"] is None
    both = search(demo, filters={"type": "meeting", "path": "memory/people"})
    assert both["results"] == []
    spring = search(demo, filters={"type": "meeting", "from": "2026-03", "to": "2026-03"})
    assert {one["metadata"]["date"][:7] for one in spring["results"]} == {"2026-03"}


def test_nothing_on_the_topic_is_an_empty_list(demo: Workplace) -> None:
    data = search(demo, query="quantum computing blockchain NFTs")
    assert data["results"] == []
    assert data["total_found"] == 0


def test_snippets_can_be_left_out(demo: Workplace) -> None:
    assert {one["snippet"] for one in search(demo, include_snippets=False)["results"]} == {None}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"query": "ab"}, "query"),
        ({"query": "x" * 501}, "query"),
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
def test_what_does_not_fit_the_contract_is_refused(
    demo: Workplace, given: dict[str, Any], named: str
) -> None:
    assert named in refused(demo, **given)


def test_without_an_index_the_answer_is_empty_and_nothing_is_written(fresh_demo: Path) -> None:
    workplace = Workplace(lambda: KnowledgeBase(fresh_demo))
    data = search(workplace)
    assert data["results"] == []
    assert "kbx index" in data["notes"][0]
    assert not (fresh_demo / ".kbx").exists()
    workplace.close()


def test_a_base_that_is_gone_is_an_error_and_no_crash(tmp_path: Path) -> None:
    workplace = Workplace(lambda: KnowledgeBase(tmp_path / "nowhere"))
    assert "not a folder" in refused(workplace)
    workplace.close()


def test_the_reading_tools_write_nothing(demo: Workplace, tools_demo: Path) -> None:
    """But for the note, beside the index, of what was opened."""

    def digest() -> list[str]:
        files = sorted(file for file in tools_demo.rglob("*") if file.is_file())
        files = [file for file in files if file.name != "usage.jsonl"]
        return [f"{file} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]

    before = digest()
    search(demo)
    for name, params in (
        ("kb.get", {"id": "person:alice-chen"}),
        ("kb.experts", {"topic": "migration"}),
        ("kbx.search", {"query": "rollback"}),
        ("kbx.memory_similar", {"text": "prefers async communication"}),
    ):
        assert demo.answer(name, params).failure is None
    assert digest() == before
