"""The evidence of judged queries is read once per index, and measures any setting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.api.searcher import Searcher
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.request import SearchRequest

QUERIES = tuple(
    JudgedQuery(text, text, "own", {"memory/decisions/rollback-is-one-command.md": 2}, frozenset())
    for text in ("what did Alice decide about rollbacks", "rollback", "who owns the rollback plan")
)


@pytest.fixture
def retrieved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the queries that are retrieved from now on."""
    texts, retrieve = list[str](), Searcher.retrieve

    def recorded(self: Searcher, request: SearchRequest) -> Evidence:
        texts.append(request.query)
        return retrieve(self, request)

    monkeypatch.setattr(Searcher, "retrieve", recorded)
    return texts


def test_each_query_is_retrieved_once_until_the_index_changes(
    demo_copy: Path, retrieved: list[str]
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        first = kb.tuner.judged_evidence(QUERIES[:2])
        first.measure([kb.tuning(), kb.tuning(alpha=0.2), kb.tuning(gate="hard")])
        assert retrieved == ["what did Alice decide about rollbacks", "rollback"]
        assert kb.tuner.judged_evidence(QUERIES[:2]) is first

        kb.tuner.judged_evidence(QUERIES)
        assert retrieved[2:] == ["who owns the rollback plan"]

        (demo_copy / "memory" / "new.md").write_text("# New\n\nA rollback.\n")
        kb.index()
        later = kb.tuner.judged_evidence(QUERIES)
        assert retrieved[3:] == [query.text for query in QUERIES]
        assert later.generation > first.generation


def test_settings_are_worth_what_an_evaluation_says(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        flat = replace(kb.tuning(), hierarchy=False)
        figures = kb.tuner.judged_evidence(QUERIES).measure([kb.tuning(), flat]).ndcg
        runs = [kb.judgments.evaluate(QUERIES), kb.judgments.evaluate(QUERIES, mode="flat")]
    expected = [[result.ndcg for result in run.results] for run in runs]
    assert figures.tolist() == expected
