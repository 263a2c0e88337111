"""Metrics checked against arithmetic and against ir-measures, an independent implementation."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.evaluation.metrics import ndcg, recall, reciprocal_rank

GRADES = {"a": 2, "b": 1, "c": 1, "d": 0}


def test_ndcg_uses_exponential_gains() -> None:
    ideal = 3 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert ndcg(["b", "x", "a"], GRADES) == pytest.approx((1 / log2(2) + 3 / log2(4)) / ideal)
    assert ndcg(["a", "b", "c"], GRADES) == 1.0


def test_documents_below_the_cutoff_do_not_count() -> None:
    assert ndcg(["x", "a"], GRADES, k=1) == 0.0
    assert recall(["x", "a"], GRADES, k=1) == 0.0
    assert reciprocal_rank(["x"] * 20 + ["a"], GRADES) == pytest.approx(1 / 21)


def test_grade_zero_is_not_relevant() -> None:
    assert recall(["d", "a"], GRADES) == pytest.approx(1 / 3)
    assert reciprocal_rank(["d", "a"], GRADES) == 0.5


def test_metrics_are_zero_without_relevant_or_ranked_documents() -> None:
    for measure in (ndcg, recall, reciprocal_rank):
        assert measure(["a"], {}) == measure([], GRADES) == measure(["d"], {"d": 0}) == 0.0


names = st.sampled_from([f"d{number}" for number in range(30)])
some_grades = st.dictionaries(names, st.integers(0, 4), min_size=1)
some_ranking = st.lists(names, unique=True, min_size=1)


@given(st.lists(st.tuples(some_ranking, some_grades), min_size=1, max_size=5))
def test_metrics_agree_with_ir_measures(cases: list[tuple[list[str], dict[str, int]]]) -> None:
    ir = pytest.importorskip("ir_measures")
    exponential = {grade: 2**grade - 1 for grade in range(1, 5)}
    ours = {
        ir.nDCG(gains=exponential) @ 10: ndcg,
        ir.R @ 10: recall,
        ir.RR: reciprocal_rank,
    }
    for ranked, grades in cases:
        run = {"q": {path: float(-rank) for rank, path in enumerate(ranked)}}
        for theirs, measure in ours.items():
            (reference,) = ir.iter_calc([theirs], {"q": grades}, run)
            assert measure(ranked, grades) == pytest.approx(reference.value, abs=1e-6)
