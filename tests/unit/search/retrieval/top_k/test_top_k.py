"""Top-k retrieval gives the top k of a full scan, despite quantization errors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Evidence, Topic
from kbx_tui.search.evidence.scores import (
    PROPAGATION_SHARE,
    QueryVariant,
    Rows,
    ScoredDocuments,
    Scores,
    Scoring,
)
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from kbx_tui.search.retrieval import document_pass
from kbx_tui.search.retrieval import document_pass as convergence
from kbx_tui.search.retrieval.document_pass import TopKRequest, top_k_evidence
from tests.unit.search import building
from tests.unit.search.building import some_evidence, some_tuning

ERROR = 0.02
"""Maximum error of approximate cosines."""


@pytest.fixture(autouse=True, scope="module")
def small_thresholds() -> Iterator[None]:
    """Make top-k retrieval worthwhile for a few documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_pass, "WORTH_FROM", 0)
        patch.setattr(document_pass, "WORTH_SHARE", 1.0)
        patch.setattr(convergence, "WORTH_SHARE", 1.0)
        patch.setattr(convergence, "BATCH", 3)
        yield


@dataclass(frozen=True)
class Case:
    """Evidence from a full scan, and what it was computed from."""

    full: Evidence
    scoring: Scoring
    cosines: dict[str, Scores]


def scanned(evidence: Evidence, scoring: Scoring, cosines: dict[str, Scores]) -> Evidence:
    scores = [scoring.components(query, cosine) for query, cosine in cosines.items()]
    return replace(evidence, as_typed=scores[0], as_searched=scores[-1])


def case(
    evidence: Evidence,
    documents: ScoredDocuments,
    random: np.random.Generator,
    without_vector: set[int],
) -> Case:
    """Return a case with random scores for the adjacent parts outside `evidence`."""
    outside, variants, cosines = len(documents.rows) - len(evidence), {}, {}
    for scores in (evidence.as_typed, evidence.as_searched):
        raw = np.append(scores.raw_lexical, random.choice([0.0, 20.0], outside))
        cosine = np.append(scores.cosine, random.uniform(-1.0, 1.0, outside))
        cosine[[row for row in without_vector if row < len(cosine)]] = np.nan
        variants[scores.query] = QueryVariant(raw, scores.lexical_weight)
        cosines[scores.query] = cosine
    scoring = Scoring(documents, variants, PROPAGATION_SHARE)
    return Case(scanned(evidence, scoring, cosines), scoring, cosines)


def retrieved(
    case: Case, tuning: Tuning, limit: int, seed: int = 1, *, error: float = ERROR
) -> Evidence | None:
    """Return the evidence of top-k retrieval if approximate cosines are off by up to `error`."""
    random = np.random.default_rng(seed)

    def approximate(query: str) -> tuple[Scores, float]:
        errors = random.choice([-error, 0.0, error], len(case.cosines[query]))
        return case.cosines[query] + (errors if np.isfinite(error) else np.nan), error

    def exact(query: str, positions: Rows) -> Scores:
        return case.cosines[query][positions]

    unknown = {query: np.full(len(cosine), np.nan) for query, cosine in case.cosines.items()}
    without_cosines = scanned(case.full, case.scoring, unknown)
    request = TopKRequest(tuning, limit)
    return top_k_evidence(without_cosines, request, case.scoring, approximate, exact)


def simple_case(bm25: Sequence[float], cosine: Sequence[float]) -> Case:
    """Return documents without continuations and entities."""
    evidence = building.evidence(building.components(bm25, cosine))
    documents = building.whole_documents(len(bm25))
    return case(evidence, documents, np.random.default_rng(1), set())


@st.composite
def some_documents(draw: st.DrawFn, size: int) -> ScoredDocuments:
    """Draw `size` documents, some of which have adjacent parts, in scope or not."""
    outside = draw(st.integers(0, 4)) if size else 0
    parts = np.array(sorted(draw(st.sets(st.integers(0, size - 1)))) if size else [], np.int64)
    side = st.lists(st.integers(-1, size + outside - 1), min_size=len(parts), max_size=len(parts))
    rows = np.arange(size + outside)
    return ScoredDocuments(
        flags=rows >= 0,
        rows=rows,
        in_scope=np.arange(size),
        parts=parts,
        adjacent=np.array([draw(side), draw(side)], np.int64).reshape(2, len(parts)),
    )


@given(
    st.data(),
    some_evidence(),
    some_tuning(),
    st.integers(1, 5),
    st.sets(st.integers(0, 15)),
    st.integers(0, 99),
)
def test_top_k_and_number_of_results_equal_a_full_scan(
    data: st.DataObject,
    evidence: Evidence,
    tuning: Tuning,
    limit: int,
    without_vector: set[int],
    seed: int,
) -> None:
    documents = data.draw(some_documents(len(evidence)))
    drawn = case(evidence, documents, np.random.default_rng(seed), without_vector)
    found = retrieved(drawn, tuning, limit, seed)
    expected = rank(drawn.full, tuning)
    if found is None:
        assert limit > len(evidence) or expected.topic is not None
        return
    ranking = rank(found, tuning)
    assert [(ranked.row, ranked.score) for ranked in ranking.top(limit)] == [
        (ranked.row, ranked.score) for ranked in expected.top(limit)
    ]
    assert ranking.total_matched == expected.total_matched


def test_cosines_without_an_error_bound_cause_a_full_scan() -> None:
    assert retrieved(simple_case([1.0] * 6, [0.5] * 6), Tuning(), 2, error=np.inf) is None


def test_large_limit_causes_a_full_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_pass, "WORTH_SHARE", 0.5)
    documents = simple_case([1.0] * 6, [0.5] * 6)
    assert retrieved(documents, Tuning(), 3) is not None
    assert retrieved(documents, Tuning(), 4) is None


def test_documents_that_only_the_cosine_could_make_results_are_evaluated_and_counted() -> None:
    documents = simple_case([0.0] * 5, [0.9, 0.31, 0.29, 0.305, 0.1])
    found = retrieved(documents, Tuning(), 1, seed=4)
    assert found is not None
    assert found.evaluated is not None
    assert rank(found, Tuning()).total_matched == 3
    assert not found.evaluated[4]


@pytest.mark.parametrize("seed", range(5))
def test_a_full_scan_decides_whether_linked_documents_say_anything_of_the_topic(seed: int) -> None:
    """Above the floor, but by less than the error of approximate cosines."""
    scores = building.components([0.0] * 8, [0.305] * 8)
    assert scores.doc_relevance.all()
    found = building.evidence(
        scores,
        entities=[(building.entity(0, 1.0, named=True), dict.fromkeys(range(8), 1.0))],
        topic=Topic(0.2),
    )
    close = case(found, building.whole_documents(8), np.random.default_rng(1), set())
    assert retrieved(close, Tuning(gate="hard"), 1, seed) is None
