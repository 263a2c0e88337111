"""Top-k retrieval evaluates fewer documents and returns the same results."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.errors import OutOfRange
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.search.retrieval import document_pass
from kbx_tui.search.retrieval import document_pass as convergence
from kbx_tui.search.retrieval.document_pass import TopKRequest

QUERIES = [
    "what did grace tully say about the cut-over?",
    "yusuf demir and lena fischbach rollback",
    "search platform ferry",
    "what has Alice Chen been working on?",
    "why are ferries late in winter",
    "maritime punctuality",
]


@pytest.fixture(scope="module")
def kb(demo_kb_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_kb_path) as opened:
        yield opened


@pytest.fixture(autouse=True)
def small_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make top-k retrieval worthwhile for a small base."""
    monkeypatch.setattr(document_pass, "WORTH_FROM", 1)
    monkeypatch.setattr(convergence, "BATCH", 5)
    monkeypatch.setattr(document_pass, "WORTH_SHARE", 1.0)
    monkeypatch.setattr(convergence, "WORTH_SHARE", 1.0)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "options",
    [{}, {"gate": "hard"}, {"alpha": 0.8}, {"hierarchy": False}, {"path": "memory"}],
)
def test_results_equal_those_of_a_full_scan(
    kb: KnowledgeBase, query: str, options: dict[str, str | float]
) -> None:
    response = kb.search(query, limit=4, explain=True, **options)
    evidence = kb.retrieve(query, path=str(options.get("path", "")))
    knobs = {name: value for name, value in options.items() if name != "path"}
    ranking = kb.rank(evidence, kb.tuning(**knobs))
    full_scan = [(evidence.paths[ranked.row], round(ranked.score, 4)) for ranked in ranking.top(4)]
    assert [(result.path, result.score) for result in response.results] == full_scan
    assert response.meta.total_matched == ranking.total_matched
    assert response.meta.explain is not None
    assert response.meta.explain["evaluated"] <= response.meta.explain["documents"]


def test_small_base_is_scanned_in_full(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_pass, "WORTH_FROM", 1000)
    explained = [kb.search(query, limit=2, explain=True).meta.explain for query in QUERIES]
    assert [(meta["stopped_by"], meta["evaluated"]) for meta in explained if meta] == [
        ("all", meta["documents"]) for meta in explained if meta
    ]


def test_other_entities_are_scored_by_the_query_without_names(kb: KnowledgeBase) -> None:
    named = kb.search("what did grace tully say about the cut-over?").meta.pass1_entities
    unnamed = kb.search("what did say about the cut-over?").meta.pass1_entities
    hints = {entity.id: entity.score for entity in named if entity.id != "person:grace-tully"}
    assert hints
    for entity in unnamed:
        assert hints.get(entity.id, entity.score) >= entity.score


def test_most_searches_stop_early(kb: KnowledgeBase) -> None:
    explained = [kb.search(query, limit=2, explain=True).meta.explain for query in QUERIES]
    stopped = [
        (meta["stopped_by"], meta["evaluated"] < meta["documents"]) for meta in explained if meta
    ]
    assert stopped.count(("exact", True)) >= len(QUERIES) - 1


def test_top_k_evidence_rejects_another_tuning(kb: KnowledgeBase) -> None:
    tuning = kb.tuning()
    searcher = Searcher(Session(kb.root, kb.settings))
    evidence = searcher.retrieve(SearchRequest(QUERIES[0]), TopKRequest(tuning, 2))
    assert evidence.only_for == tuning
    ranking = kb.rank(evidence, tuning)
    with pytest.raises(OutOfRange, match="retrieve"):
        kb.rank(evidence, Tuning(alpha=0.3))
    with pytest.raises(OutOfRange, match="retrieve"):
        ranking.at(0.3)
