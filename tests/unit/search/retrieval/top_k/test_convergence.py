"""Converging gives the top k of a full scan, however few documents are evaluated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.scores import Rows, Scores
from kbx_tui.search.retrieval import document_pass
from kbx_tui.search.retrieval.document_pass import STABLE_ROUNDS, converge

some_scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), max_size=40
)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_pass, "BATCH", 3)
    monkeypatch.setattr(document_pass, "WORTH_SHARE", 1.0)


def best(scores: Scores, rows: Rows, limit: int) -> list[float]:
    return sorted(scores[rows].tolist(), reverse=True)[:limit]


@given(some_scores, st.integers(1, 12))
def test_exact_rule_equals_a_full_scan(pairs: list[tuple[float, float]], k: int) -> None:
    bounds = np.array([bound for bound, _ in pairs], dtype=float)
    final = bounds * [share for _, share in pairs]
    converged = converge(bounds, lambda rows: final[rows], k, "exact")
    assert converged is not None
    evaluated = np.flatnonzero(converged.evaluated)
    assert best(final, evaluated, k) == best(final, np.arange(len(final)), k)
    if not converged.evaluated.all():  # documents that tie with the last place are evaluated
        assert converged.stopped_by == "exact"
        assert bounds[~converged.evaluated].max() < best(final, evaluated, k)[-1]


def test_documents_that_cannot_be_results_are_not_evaluated() -> None:
    bounds = np.array([0.5, -np.inf, 0.4])
    converged = converge(bounds, lambda rows: bounds[rows], 5, "exact")
    assert converged is not None
    assert (converged.evaluated.tolist(), converged.stopped_by) == ([True, False, True], "all")


def test_stable_rule_stops_once_the_top_k_stays_the_same() -> None:
    bounds = np.linspace(1.0, 0.9, 90)
    final = np.where(bounds > 0.99, 0.5, 0.1)
    converged = converge(bounds, lambda rows: final[rows], 2, "stable")
    assert converged is not None
    assert converged.stopped_by == "stable"
    assert converged.evaluated.sum() == 3 * (1 + STABLE_ROUNDS)


def test_nothing_is_returned_if_a_full_scan_would_be_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document_pass, "WORTH_SHARE", 0.1)
    bounds = np.ones(90)
    assert converge(bounds, lambda rows: np.zeros(len(rows)), 2, "exact") is None
