"""What is retrieved for one ranking gives the best of a full scan, whatever rounding hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.continuations import Reach
from kbx_tui.search.evidence.evidence import Evidence, Rows, Scores
from kbx_tui.search.evidence.score_normalization import PART_SHARE
from kbx_tui.search.evidence.scoring import Scoring, Wording
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.retrieval.top_k import convergence, top_k
from kbx_tui.search.retrieval.top_k.top_k import Once, best_evidence
from tests.unit.search import building
from tests.unit.search.building import some_evidence, some_tuning

SLACK = 0.02


@pytest.fixture(autouse=True, scope="module")
def a_few_documents_count_as_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_k, "WORTH_FROM", 0)
        patch.setattr(top_k, "WORTH_SHARE", 1.0)
        patch.setattr(convergence, "WORTH_SHARE", 1.0)
        patch.setattr(convergence, "BATCH", 3)
        yield


@dataclass(frozen=True)
class Case:
    """Evidence as a full scan makes it, and what it was made from."""

    full: Evidence
    scoring: Scoring
    cosines: dict[str, Scores]


def scanned(evidence: Evidence, scoring: Scoring, cosines: dict[str, Scores]) -> Evidence:
    made = [scoring.components(query, cosine) for query, cosine in cosines.items()]
    return replace(evidence, as_typed=made[0], as_searched=made[-1])


def case(evidence: Evidence, reach: Reach, random: np.random.Generator, without: set[int]) -> Case:
    """Give the parts beside documents scores too; documents at `without` have no vector."""
    more, wordings, cosines = len(reach.rows) - len(evidence), {}, {}
    for one in (evidence.as_typed, evidence.as_searched):
        raw = np.append(one.raw_lexical, random.choice([0.0, 20.0], more))
        cosine = np.append(one.cosine, random.uniform(-1.0, 1.0, more))
        cosine[[row for row in without if row < len(cosine)]] = np.nan
        wordings[one.query], cosines[one.query] = Wording(raw, one.lexical_weight), cosine
    scoring = Scoring(reach, wordings, PART_SHARE)
    return Case(scanned(evidence, scoring, cosines), scoring, cosines)


def retrieved(one: Case, wanted: Once, seed: int, *, slack: float = SLACK) -> Evidence | None:
    """Return what is retrieved where codes are off by up to `slack`, most often by all of it."""
    random = np.random.default_rng(seed)

    def about(query: str) -> tuple[Scores, float]:
        off = random.choice([-slack, 0.0, slack], len(one.cosines[query]))
        return one.cosines[query] + (off if np.isfinite(slack) else np.nan), slack

    def exact(query: str, at: Rows) -> Scores:
        return one.cosines[query][at]

    unknown = {query: np.full(len(cosine), np.nan) for query, cosine in one.cosines.items()}
    blank = scanned(one.full, one.scoring, unknown)
    return best_evidence(blank, wanted, one.scoring, about, exact)


def plain(bm25: Sequence[float], cosine: Sequence[float]) -> Case:
    """Documents without parts, of which each knows no entity."""
    evidence = building.evidence(building.components(bm25, cosine))
    return case(evidence, building.alone(len(bm25)), np.random.default_rng(1), set())


@st.composite
def some_reach(draw: st.DrawFn, size: int) -> Reach:
    """`size` documents, any of which have parts beside them, in scope or out of it."""
    more = draw(st.integers(0, 4)) if size else 0
    parts = np.array(sorted(draw(st.sets(st.integers(0, size - 1)))) if size else [], np.int64)
    side = st.lists(st.integers(-1, size + more - 1), min_size=len(parts), max_size=len(parts))
    rows = np.arange(size + more)
    return Reach(
        flags=rows >= 0,
        rows=rows,
        wanted=np.arange(size),
        parts=parts,
        beside=np.array([draw(side), draw(side)], np.int64).reshape(2, len(parts)),
    )


@given(
    st.data(),
    some_evidence(),
    some_tuning(),
    st.integers(1, 5),
    st.sets(st.integers(0, 15)),
    st.integers(0, 99),
)
def test_the_best_and_their_number_are_those_of_a_full_scan(
    data: st.DataObject,
    evidence: Evidence,
    tuning: Tuning,
    limit: int,
    without: set[int],
    seed: int,
) -> None:
    reach = data.draw(some_reach(len(evidence)))
    one = case(evidence, reach, np.random.default_rng(seed), without)
    found = retrieved(one, Once(tuning, limit), seed)
    if found is None:
        assert limit > len(evidence)
        return
    ranking, expected = rank(found, tuning), rank(one.full, tuning)
    assert [(one.row, one.score) for one in ranking.top(limit)] == [
        (one.row, one.score) for one in expected.top(limit)
    ]
    assert ranking.total_matched == expected.total_matched


def test_codes_that_tell_nothing_leave_all_to_a_full_scan() -> None:
    one = plain([1.0] * 6, [0.5] * 6)
    assert retrieved(one, Once(Tuning(), 2), 1, slack=np.inf) is None


def test_a_limit_near_the_whole_is_left_to_a_full_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_k, "WORTH_SHARE", 0.5)
    one = plain([1.0] * 6, [0.5] * 6)
    assert retrieved(one, Once(Tuning(), 3), 1) is not None
    assert retrieved(one, Once(Tuning(), 4), 1) is None


def test_what_only_meaning_could_make_a_result_is_compared_and_counted() -> None:
    one = plain([0.0] * 5, [0.9, 0.31, 0.29, 0.305, 0.1])
    found = retrieved(one, Once(Tuning(), 1), 4)
    assert found is not None
    assert found.evaluated is not None
    assert rank(found, Tuning()).total_matched == 3
    assert not found.evaluated[4]
