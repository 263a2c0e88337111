"""No tool returns redacted text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.index.lexical import bm25
from kbx_tui.tools import mcp_server
from kbx_tui.tools.engine_worker import EngineWorker
from tests.functional.tools.conftest import SECRET

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("kb.search", {"query": f"lighthouse key {SECRET}"}),
    ("kb.search", {"query": f"lighthouse plan of {SECRET}"}),
    ("kb.get", {"id": "person:vera-sand"}),
    ("kb.get", {"id": "project:lamp-works"}),
    ("kb.experts", {"topic": "lighthouse"}),
    ("kb.experts", {"topic": "lighthouse", "weight": "relevance"}),
    ("kbx.search", {"query": f"{SECRET} key", "explain": False}),
    ("kbx.search", {"query": "lighthouse key lies in", "fast": True, "explain": True}),
    ("kbx.memory_similar", {"text": "The lighthouse key is there", "threshold": 0.0}),
    ("kbx.memory_similar", {"text": "lighthouse key lies in", "path": "memory", "threshold": 0.0}),
    ("kbx.memory_similar", {"text": "the affair", "chunks": True, "threshold": 0.0, "limit": 50}),
    ("kbx.memory_similar", {"text": "lighthouse key lies in", "threshold": 1.0}),
    ("kbx.memory_similar", {"text": "The affair", "chunks": True, "threshold": 1.0}),
    ("kbx.memory_similar", {"text": "lamps came from", "path": "memory", "threshold": 1.0}),
    (
        "kbx.entity_similar_field",
        {"entity": "Vera Sand", "field": "facts", "value": "lighthouse key lies in"},
    ),
    (
        "kbx.entity_similar_field",
        {"entity": "Lamp Works", "field": "facts", "value": "lighthouse lamps came from"},
    ),
]


@pytest.fixture(scope="module")
def worker(lighthouse: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(lighthouse))
    yield engine
    engine.close()


@pytest.mark.parametrize(("name", "params"), CALLS, ids=lambda value: json.dumps(value)[:60])
def test_no_tool_returns_redacted_text(
    worker: EngineWorker, name: str, params: dict[str, Any]
) -> None:
    answer = worker.answer(name, params)
    assert answer.failure is None, answer.json
    text = json.dumps({key: value for key, value in answer.json.items() if key != "query"})
    text = text.replace(json.dumps(params.get("query", "")), "")  # repeated from the call
    assert SECRET not in text.casefold()


def test_text_beside_redacted_lines_is_returned(worker: EngineWorker) -> None:
    content = worker.answer("kb.get", {"id": "person:vera-sand"}).json["data"]["content"]
    assert "lamp was changed" in content
    assert "keeper since the spring" in content
    assert content.count("[redacted]") == 3


def test_no_resource_contains_redacted_text(worker: EngineWorker) -> None:
    rows, _ = worker.run(lambda kb: mcp_server.list_page(kb, 0)).result(60)
    assert len(rows) == 3
    for uri, _, _ in rows:
        text = worker.run(partial(mcp_server.read_resource, uri=uri)).result(60)
        assert SECRET not in text


def test_a_word_in_redacted_text_is_answered_like_one_that_is_nowhere(
    worker: EngineWorker,
) -> None:
    secret, unknown = (
        worker.answer("kbx.search", {"query": word, "fast": True}).json["meta"]
        for word in (SECRET, "qwyjibo")
    )
    assert any(note.startswith("nothing found in 3 documents") for note in unknown["notes"])
    for count in ("total_matched", "total_below_floor", "in_scope", "notes"):
        assert secret[count] == unknown[count], count


def test_a_topic_in_redacted_text_is_answered_like_one_that_is_nowhere(
    worker: EngineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "USUAL_FROM", 1)  # as if there were enough documents with the word
    answers = {
        topic: worker.answer("kb.search", {"query": f"what did Vera Sand decide about {topic}"})
        for topic in (SECRET, "qwyjibo", "lamp")
    }
    notes = {topic: answer.json["data"]["notes"] for topic, answer in answers.items()}
    assert notes[SECRET] == [note.replace("qwyjibo", SECRET) for note in notes["qwyjibo"]]
    scores = {
        topic: [row["score"] for row in answer.json["data"]["results"]]
        for topic, answer in answers.items()
    }
    assert scores[SECRET] == scores["qwyjibo"] == [0.0]
    assert scores["lamp"][0] > 0.0
