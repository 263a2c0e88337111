"""What is shown of past queries: histogram, shares and flips."""

from __future__ import annotations

from kbx_tui.evaluation.past_queries import AskedQuery, Outcome, ThresholdObservatory
from kbx_tui.tui.drawing.lines import Line, width_of
from kbx_tui.tui.tune.past_queries import (
    PastQueries,
    histogram_lines,
    joined,
    outcome_words,
    past_query_lines,
)

THRESHOLDS = (0.0, 0.5, 1.0)


def asked(text: str, *outcomes: Outcome) -> AskedQuery:
    return AskedQuery(text, 0.7, outcomes)


def observed(*queries: AskedQuery) -> ThresholdObservatory:
    histogram = [0] * 20
    histogram[14] = len(queries)
    return ThresholdObservatory(THRESHOLDS, queries, tuple(histogram))


ONE = observed(asked("rollback", "two_pass", "two_pass", "flat"))
TWO = observed(
    asked("pricing\x1b[2J", "two_pass", "flat", "flat"), asked("x", "nothing", "nothing", "nothing")
)


def text(lines: list[Line]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


def test_groups_of_queries_add_up() -> None:
    both = joined(joined(None, ONE), TWO)
    assert both.queries[0].query == "rollback"
    assert (len(both.queries), both.histogram[14]) == (3, 3)


def test_shares_are_those_at_the_nearest_threshold() -> None:
    both = joined(ONE, TWO)
    assert outcome_words(both, 0.6) == "1 two-pass, 1 flat, 1 nothing"
    assert outcome_words(ONE, 0.0) == "1 two-pass, 0 flat"


def test_queries_that_another_threshold_answers_otherwise_are_listed() -> None:
    shown = text(past_query_lines(PastQueries(joined(ONE, TWO), 10, 0.0, 0.5), 60))
    assert "3 of 10 past queries" in shown
    assert "1 query changes:" in shown
    assert "two-pass → flat" in shown
    assert "\x1b" not in shown
    same = text(past_query_lines(PastQueries(ONE, 1, 0.5, 0.5), 60))
    assert "best entity scores of 1 past query" in same
    assert "change" not in same


def test_histogram_has_the_threshold_in_its_place() -> None:
    lines = histogram_lines(ONE.histogram, 0.5, 62)
    assert all(width_of(line) <= 62 for line in lines)
    for line in text(lines[:-1]).split("\n"):
        assert line.index("│") == 31
    assert "█" in text(lines)
    assert text(histogram_lines(ONE.histogram, 1.0, 62)[:1]).endswith("│")
    assert "█" not in text(histogram_lines((0,) * 20, 0.5, 62))
