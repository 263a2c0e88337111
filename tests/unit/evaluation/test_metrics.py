"""Metrics checked against arithmetic and against ir-measures, an independent implementation."""

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.evaluation.metrics import (
    average_precision,
    expected_reciprocal_rank,
    judged_share,
    ndcg,
    ndcg_linear,
    precision,
    rank_biased_precision,
    recall,
    reciprocal_rank,
)

GRADES = {"a": 2, "b": 1, "c": 1, "d": 0}


def test_metrics_are_zero_without_relevant_or_ranked_documents() -> None:
    for measure in (ndcg, recall, reciprocal_rank):
        assert measure(["a"], {}) == measure([], GRADES) == measure(["d"], {"d": 0}) == 0.0


def test_err_is_the_sum_over_ranks_of_being_satisfied_there_first() -> None:
    """Chapelle et al. 2009, with their five grades: R(4) = 15/16, R(2) = 3/16."""
    grades = {"perfect": 4, "good": 2, "bad": 0}
    assert expected_reciprocal_rank(["perfect"], grades, max_grade=4) == 15 / 16
    assert expected_reciprocal_rank(
        ["good", "bad", "perfect"], grades, max_grade=4
    ) == pytest.approx(3 / 16 + (13 / 16) * (15 / 16) / 3)


def test_rbp_is_the_weighted_sum_of_relevance() -> None:
    """Moffat & Zobel 2008: (1 - p) times the sum of p^(rank - 1) over the relevant."""
    grades = {"a": 1, "b": 0, "c": 1}
    base, residual = rank_biased_precision(["a", "b", "c"], grades, 0.5)
    assert base == 0.5 + 0.125
    assert residual == 0.125  # the ranks below the list: p^3


def test_residual_of_rbp_is_the_weight_of_all_that_is_not_judged() -> None:
    """Moffat & Zobel 2008: RBP is within base and base + residual, whatever is judged."""
    grades = {"a": 1, "c": 0}
    base, residual = rank_biased_precision(["a", "?", "c"], grades, 0.8)
    assert base == pytest.approx(0.2)
    assert residual == pytest.approx(0.2 * 0.8 + 0.8**3)
    for grade in (0, 1):
        judged, smaller = rank_biased_precision(["a", "?", "c"], {**grades, "?": grade}, 0.8)
        assert base <= judged + 1e-12
        assert judged + smaller <= base + residual + 1e-12
    assert rank_biased_precision([], grades) == (0.0, 1.0)


def test_judged_share_divides_by_the_results_there_are() -> None:
    assert judged_share(["a", "x", "d"], GRADES) == pytest.approx(2 / 3)
    assert judged_share(["x"] * 10 + ["a"], GRADES) == 0.0
    assert judged_share([], GRADES) == 0.0


names = st.sampled_from([f"d{number}" for number in range(30)])
some_grades = st.dictionaries(names, st.integers(0, 4), min_size=1)
some_ranking = st.lists(names, unique=True, min_size=1)
cases = st.lists(st.tuples(some_ranking, some_grades), min_size=1, max_size=5)


@given(cases)
def test_metrics_agree_with_ir_measures(cases: list[tuple[list[str], dict[str, int]]]) -> None:
    ir = pytest.importorskip("ir_measures")
    exponential = {grade: 2**grade - 1 for grade in range(1, 5)}
    ours = {
        ir.nDCG(gains=exponential) @ 10: ndcg,
        ir.nDCG @ 10: ndcg_linear,
        ir.R @ 10: recall,
        ir.P @ 5: precision,
        ir.AP: average_precision,
        ir.RR: reciprocal_rank,
        ir.Judged @ 10: judged_share,
    }
    for ranked, grades in cases:
        run = {"q": {path: float(-rank) for rank, path in enumerate(ranked)}}
        for theirs, measure in ours.items():
            (reference,) = ir.iter_calc([theirs], {"q": grades}, run)
            assert measure(ranked, grades) == pytest.approx(reference.value, abs=1e-9)


@settings(max_examples=10)  # each starts perl
@given(cases)
def test_err_agrees_with_gdeval(cases: list[tuple[list[str], dict[str, int]]]) -> None:
    """The script of the TREC web tracks, with their five grades; it prints five decimals."""
    ir = pytest.importorskip("ir_measures")
    if not shutil.which("perl"):
        pytest.skip("gdeval is a perl script")
    for ranked, grades in cases:
        run = {"1": {path: float(-rank) for rank, path in enumerate(ranked)}}
        (reference,) = ir.iter_calc([ir.ERR @ 10], {"1": grades}, run)
        ours = expected_reciprocal_rank(ranked, grades, max_grade=4)
        assert ours == pytest.approx(reference.value, abs=1e-5)
