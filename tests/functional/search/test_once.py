"""A search that is asked for once looks at fewer documents and answers the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.errors import OutOfRange
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.retrieval.scope import ALL
from kbx_tui.search.retrieval.top_k import convergence, top_k
from kbx_tui.search.retrieval.top_k.top_k import Once

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
def a_small_base_counts_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_k, "WORTH_FROM", 1)
    monkeypatch.setattr(convergence, "BATCH", 5)
    monkeypatch.setattr(top_k, "WORTH_SHARE", 1.0)
    monkeypatch.setattr(convergence, "WORTH_SHARE", 1.0)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "options",
    [{}, {"gate": "hard"}, {"alpha": 0.8}, {"hierarchy": False}, {"path": "memory"}],
)
def test_the_best_are_those_of_all_documents(
    kb: KnowledgeBase, query: str, options: dict[str, str | float]
) -> None:
    answer = kb.search(query, limit=4, explain=True, **options)
    evidence = kb.retrieve(query, path=str(options.get("path", "")))
    knobs = {name: value for name, value in options.items() if name != "path"}
    ranking = kb.rank(evidence, kb.tuning(**knobs))
    complete = [(evidence.paths[one.row], round(one.score, 4)) for one in ranking.top(4)]
    assert [(result.path, result.score) for result in answer.results] == complete
    assert answer.meta.total_matched == ranking.total_matched
    assert answer.meta.explain is not None
    assert answer.meta.explain["evaluated"] <= answer.meta.explain["documents"]


def test_a_small_base_is_compared_whole(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_k, "WORTH_FROM", 1000)
    explained = [kb.search(query, limit=2, explain=True).meta.explain for query in QUERIES]
    assert [(one["stopped_by"], one["evaluated"]) for one in explained if one] == [
        ("all", one["documents"]) for one in explained if one
    ]


def test_other_entities_are_told_by_what_is_left_without_the_names(kb: KnowledgeBase) -> None:
    named = kb.search("what did grace tully say about the cut-over?").meta.pass1_entities
    nobody = kb.search("what did say about the cut-over?").meta.pass1_entities
    hints = {entity.id: entity.score for entity in named if entity.id != "person:grace-tully"}
    assert hints
    for entity in nobody:
        assert hints.get(entity.id, entity.score) >= entity.score


def test_most_searches_really_stop_early(kb: KnowledgeBase) -> None:
    explained = [kb.search(query, limit=2, explain=True).meta.explain for query in QUERIES]
    stopped = [(one["stopped_by"], one["evaluated"] < one["documents"]) for one in explained if one]
    assert stopped.count(("exact", True)) >= len(QUERIES) - 1


def test_evidence_for_one_ranking_is_refused_to_another(kb: KnowledgeBase) -> None:
    tuning = kb.tuning()
    evidence = kb._engine().retrieve(
        QUERIES[0], path=kb._path_filter(""), filters=ALL, once=Once(tuning, 2)
    )
    assert evidence.only_for == tuning
    ranking = kb.rank(evidence, tuning)
    with pytest.raises(OutOfRange, match="retrieve"):
        kb.rank(evidence, Tuning(alpha=0.3))
    with pytest.raises(OutOfRange, match="retrieve"):
        ranking.at(0.3)


def test_what_is_retrieved_for_the_knobs_is_complete(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve(QUERIES[0])
    assert (evidence.only_for, evidence.evaluated, evidence.stopped_by) == (None, None, "all")
