"""How much a query is drawn to what fits it best: the setting, the seed's preset, and who did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.embedding.embedder import Vector
from kbx_tui.errors import OutOfRange
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.index.vectors.vector_matrix import Vectors
from kbx_tui.search.evidence.evidence import Evidence, Rows
from kbx_tui.search.evidence.score_normalization import FEEDBACK_DOCUMENTS, FEEDBACK_WEIGHT
from kbx_tui.search.retrieval import pseudo_relevance_feedback

TOPIC = "how do we roll the cut-over back?"


def retrieved(base: Path, **search: object) -> Evidence:
    settings = Settings(search=SearchSettings(**search))  # type: ignore[arg-type]
    with KnowledgeBase(base, settings=settings) as kb:
        evidence: Evidence = kb.retrieve(TOPIC)
        return evidence


def test_the_default_of_the_setting_is_that_of_the_search() -> None:
    assert SearchSettings().feedback == FEEDBACK_WEIGHT


def test_three_documents_draw_and_explain_names_them(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        evidence = kb.retrieve(TOPIC)
        answer = kb.search(TOPIC, explain=True)
    assert len(evidence.drawn_to) == FEEDBACK_DOCUMENTS
    assert {one.path for one in evidence.drawn_to} <= set(evidence.paths)
    assert answer.meta.explain is not None
    named = [(one["path"], one["title"]) for one in answer.meta.explain["drawn_to"]]
    assert named == [(one.path, one.title) for one in evidence.drawn_to]
    json.dumps(answer.meta.explain["drawn_to"])


@pytest.mark.parametrize("off", [{"feedback": 0.0}, {"hierarchy_preset": "seed"}])
def test_switched_off_or_as_the_seed_nothing_is_drawn(
    demo_kb_path: Path, off: dict[str, object]
) -> None:
    without, drawn = retrieved(demo_kb_path, **off), retrieved(demo_kb_path)
    assert without.drawn_to == ()
    assert not np.array_equal(without.as_typed.cosine, drawn.as_typed.cosine)
    with KnowledgeBase(demo_kb_path) as kb:
        same = kb.retrieve(TOPIC, feedback=0.0)
    assert np.array_equal(without.as_typed.cosine, same.as_typed.cosine)


def test_without_names_nothing_is_said_to_draw(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        answer = kb.search("what did grace moyo say about the cut-over?", explain=True)
    assert answer.meta.search_mode == "two_pass"
    assert answer.meta.explain is not None
    assert answer.meta.explain["drawn_to"] == []


def test_evaluating_the_seed_draws_nothing(
    demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights: list[float] = []
    draw = pseudo_relevance_feedback.drawn_to

    def noting(query: Vector, rows: Rows, vectors: Vectors, weight: float) -> Vector:
        weights.append(weight)
        return draw(query, rows, vectors, weight)

    monkeypatch.setattr(pseudo_relevance_feedback, "drawn_to", noting)
    with KnowledgeBase(demo_kb_path) as kb:
        path = kb.retrieve(TOPIC, fast=True).paths[0]
        judged = [JudgedQuery("1", TOPIC, "topic", {path: 1}, frozenset())]
        kb.evaluate(judged, preset="seed")
        assert weights == []
        kb.evaluate(judged)
    assert weights == [FEEDBACK_WEIGHT]


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_beyond_its_range_is_refused(demo_kb_path: Path, weight: float) -> None:
    with KnowledgeBase(demo_kb_path) as kb, pytest.raises(OutOfRange, match="feedback"):
        kb.retrieve(TOPIC, feedback=weight)
