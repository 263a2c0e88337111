"""What is retrieved for one ranking gives the best of a full scan, whatever rounding hides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search import convergence, once
from kbx_tui.search.evidence import Evidence, Rows, Scores
from kbx_tui.search.once import Once, best_evidence, components
from kbx_tui.search.ranking import rank
from kbx_tui.search.tuning import Tuning
from tests.unit.search import building
from tests.unit.search.building import some_evidence, some_tuning

SLACK = 0.02


@pytest.fixture(autouse=True, scope="module")
def a_few_documents_count_as_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(once, "WORTH_FROM", 0)
        patch.setattr(once, "WORTH_SHARE", 1.0)
        patch.setattr(convergence, "WORTH_SHARE", 1.0)
        patch.setattr(convergence, "BATCH", 3)
        yield


def complete(evidence: Evidence, without: set[int]) -> Evidence:
    """Return the evidence as a full scan makes it; documents at `without` have no vector."""
    made = []
    for scores in (evidence.as_typed, evidence.as_searched):
        cosine = scores.cosine.copy()
        cosine[[row for row in without if row < len(cosine)]] = np.nan
        made.append(components(scores.query, scores.raw_lexical, cosine, scores.lexical_weight))
    return replace(evidence, as_typed=made[0], as_searched=made[1])


def retrieved(full: Evidence, wanted: Once, seed: int, *, slack: float = SLACK) -> Evidence | None:
    """Return what is retrieved where codes are off by up to `slack`, most often by all of it."""
    cosines = {one.query: one.cosine for one in (full.as_typed, full.as_searched)}
    random = np.random.default_rng(seed)

    def about(query: str) -> tuple[Scores, float]:
        off = random.choice([-slack, 0.0, slack], len(full))
        return cosines[query] + (off if np.isfinite(slack) else np.nan), slack

    def exact(query: str, rows: Rows) -> Scores:
        return cosines[query][rows]

    unknown = np.full(len(full), np.nan)
    blank = [
        components(one.query, one.raw_lexical, unknown, one.lexical_weight)
        for one in (full.as_typed, full.as_searched)
    ]
    return best_evidence(
        replace(full, as_typed=blank[0], as_searched=blank[1]), wanted, about, exact
    )


@given(
    some_evidence(),
    some_tuning(),
    st.integers(1, 5),
    st.sets(st.integers(0, 11)),
    st.integers(0, 99),
)
def test_the_best_and_their_number_are_those_of_a_full_scan(
    evidence: Evidence, tuning: Tuning, limit: int, without: set[int], seed: int
) -> None:
    full = complete(evidence, without)
    found = retrieved(full, Once(tuning, limit), seed)
    if found is None:
        assert limit > len(full)
        return
    ranking, expected = rank(found, tuning), rank(full, tuning)
    assert [(one.row, one.score) for one in ranking.top(limit)] == [
        (one.row, one.score) for one in expected.top(limit)
    ]
    assert ranking.total_matched == expected.total_matched


def test_codes_that_tell_nothing_leave_all_to_a_full_scan() -> None:
    blank = np.zeros(6)
    scores = components("q", blank + 1.0, blank + 0.5, 0.7)
    evidence = replace(_nothing(6), as_typed=scores, as_searched=scores)
    assert retrieved(evidence, Once(Tuning(), 2), 1, slack=np.inf) is None


def test_a_limit_near_the_whole_is_left_to_a_full_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "WORTH_SHARE", 0.5)
    scores = components("q", np.ones(6), np.full(6, 0.5), 0.7)
    evidence = replace(_nothing(6), as_typed=scores, as_searched=scores)
    assert retrieved(evidence, Once(Tuning(), 3), 1) is not None
    assert retrieved(evidence, Once(Tuning(), 4), 1) is None


def test_what_only_meaning_could_make_a_result_is_compared_and_counted() -> None:
    cosine = np.array([0.9, 0.31, 0.29, 0.305, 0.1])
    scores = components("q", np.zeros(5), cosine, 0.7)
    found = retrieved(
        replace(_nothing(5), as_typed=scores, as_searched=scores), Once(Tuning(), 1), 4
    )
    assert found is not None
    assert found.evaluated is not None
    assert rank(found, Tuning()).total_matched == 3
    assert not found.evaluated[4]


def _nothing(size: int) -> Evidence:
    return building.evidence(building.components([0.0] * size, [0.0] * size))
