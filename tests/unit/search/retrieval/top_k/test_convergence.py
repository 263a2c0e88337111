"""The best are the best of a full scan, however few were compared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Rows, Scores
from kbx_tui.search.retrieval.top_k import convergence
from kbx_tui.search.retrieval.top_k.convergence import STABLE_ROUNDS, converge

some_scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), max_size=40
)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence, "BATCH", 3)
    monkeypatch.setattr(convergence, "WORTH_SHARE", 1.0)


def best(scores: Scores, rows: Rows, limit: int) -> list[float]:
    return sorted(scores[rows].tolist(), reverse=True)[:limit]


@given(some_scores, st.integers(1, 12))
def test_exact_is_identical_to_a_full_scan(pairs: list[tuple[float, float]], limit: int) -> None:
    reach = np.array([most for most, _ in pairs], dtype=float)
    final = reach * [share for _, share in pairs]
    found = converge(reach, lambda rows: final[rows], limit, "exact")
    assert found is not None
    compared = np.flatnonzero(found.evaluated)
    assert best(final, compared, limit) == best(final, np.arange(len(final)), limit)
    if not found.evaluated.all():  # not even a tie with the last place was left out
        assert found.stopped == "exact"
        assert reach[~found.evaluated].max() < best(final, compared, limit)[-1]


def test_what_is_no_result_is_never_compared() -> None:
    reach = np.array([0.5, -np.inf, 0.4])
    found = converge(reach, lambda rows: reach[rows], 5, "exact")
    assert found is not None
    assert (found.evaluated.tolist(), found.stopped) == ([True, False, True], "all")


def test_stable_stops_when_the_best_stay_the_same() -> None:
    reach = np.linspace(1.0, 0.9, 90)
    final = np.where(reach > 0.99, 0.5, 0.1)
    found = converge(reach, lambda rows: final[rows], 2, "stable")
    assert found is not None
    assert found.stopped == "stable"
    assert found.evaluated.sum() == 3 * (1 + STABLE_ROUNDS)


def test_too_many_to_compare_one_by_one_are_left_to_one_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(convergence, "WORTH_SHARE", 0.1)
    reach = np.ones(90)
    assert converge(reach, lambda rows: np.zeros(len(rows)), 2, "exact") is None


def test_the_best_must_stay_the_same_for_as_many_rounds_as_proposed() -> None:
    assert STABLE_ROUNDS == 3
