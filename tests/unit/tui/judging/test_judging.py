"""What is judged next, and the line that measures."""

from dataclasses import replace

import pytest

from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.request import Tuning
from kbx_tui.tui.judging.live_measure import LiveMeasure, SearchSettings, measure_candidates
from kbx_tui.tui.judging.model import judging_order


@pytest.mark.parametrize(
    ("now", "start", "judged", "first"),
    [
        ("abc", "abc", "", "abc"),
        ("abc", "abc", "ac", "b"),
        ("abx", "bay", "", "xyab"),  # one that only one ranking has, then those that moved
        ("xbcdef", "bcdefx", "", "x"),  # higher ranks weigh more
        ("abcdef", "abcdfe", "", "ef"),
        ("ab", "ba", "ab", ""),
    ],
)
def test_documents_are_judged_by_how_much_their_grade_can_change(
    now: str, start: str, judged: str, first: str
) -> None:
    order = "".join(judging_order(now, start, judged))
    assert order[: len(first)] == first
    assert set(order) == {*now, *start} - {*judged}


def test_only_the_first_ten_of_either_count() -> None:
    now, start = [f"n{rank}" for rank in range(20)], [f"s{rank}" for rank in range(20)]
    assert len(judging_order(now, start, judged=set())) == 20


A = SearchSettings(Tuning())
B = SearchSettings(replace(Tuning(), alpha=0.7))
QUERIES = tuple(JudgedQuery(q, q, "own", {"a.md": 1}, frozenset()) for q in ("x", "y", "z"))
MEASURE = LiveMeasure(A, B, QUERIES, (0.5, 0.5, 1.0), (0.8, 0.5, 0.9), (1.0, 0.5, 0.0), 0)


def test_measures_are_shown_beside_the_start_with_a_warning_if_worse() -> None:
    assert measure_candidates(MEASURE)[1] == (
        "quality .73 (start .67), 1 better, 1 worse, 50 % graded"
    )

    worse = (
        "On 3 judged queries of this base whose right answers are known, these settings do worse"
        " than A (what is saved, unless you pinned others): nDCG@10 .67 instead of .73."
    )
    assert replace(MEASURE, start=MEASURE.now, now=MEASURE.start).warning == (worse,)
    assert MEASURE.warning == ()

    same = replace(MEASURE, current=A, start=MEASURE.now)
    assert measure_candidates(same)[0] == (
        "quality .73 (nDCG@10) over 3 judged queries, 50 % of the first ten graded"
    )

    assert "no memory for 2 more" in measure_candidates(replace(MEASURE, left_out=2))[0]

    lengths = [len(text) for text in measure_candidates(MEASURE)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] <= 40


def test_settings_in_words() -> None:
    assert B.words() == "two-pass, alpha .70, threshold .50"
    assert SearchSettings(replace(Tuning(), hierarchy=False)).words() == "flat"
    assert SearchSettings(Tuning(), is_fast=True).words() == "fast"
    assert SearchSettings(Tuning.seed()).words().endswith("ranking of the seed")
