"""Pseudo-relevance feedback: its setting, the seed preset, and the feedback documents."""

import json
from pathlib import Path

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import FEEDBACK_DOCUMENTS

TOPIC = "how do we roll the cut-over back?"


def retrieved(base: Path, **search: object) -> Evidence:
    settings = Settings(search=SearchSettings(**search))  # type: ignore[arg-type]
    with KnowledgeBase(base, settings=settings) as kb:
        evidence: Evidence = kb.retrieve(TOPIC)
        return evidence


def test_explain_lists_three_feedback_documents(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        evidence = kb.retrieve(TOPIC)
        response = kb.search(TOPIC, explain=True)
    assert len(evidence.feedback_documents) == FEEDBACK_DOCUMENTS
    documents = evidence.feedback_documents
    assert {document.path for document in documents} <= set(evidence.paths)
    assert response.meta.explain is not None
    listed = [(row["path"], row["title"]) for row in response.meta.explain["drawn_to"]]
    assert listed == [(document.path, document.title) for document in documents]
    json.dumps(response.meta.explain["drawn_to"])


@pytest.mark.parametrize("off", [{"feedback": 0.0}, {"hierarchy_preset": "seed"}])
def test_feedback_is_off_if_disabled_or_with_the_seed_preset(
    demo_kb_path: Path, off: dict[str, object]
) -> None:
    without, with_feedback = retrieved(demo_kb_path, **off), retrieved(demo_kb_path)
    assert without.feedback_documents == ()
    assert not np.array_equal(without.as_typed.cosine, with_feedback.as_typed.cosine)
    with KnowledgeBase(demo_kb_path) as kb:
        same = kb.retrieve(TOPIC, feedback=0.0)
    assert np.array_equal(without.as_typed.cosine, same.as_typed.cosine)


def test_search_without_names_uses_no_feedback_documents(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        response = kb.search("what did grace moyo say about the cut-over?", explain=True)
    assert response.meta.search_mode == "two_pass"
    assert response.meta.explain is not None
    assert response.meta.explain["drawn_to"] == []
