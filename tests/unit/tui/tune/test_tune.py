"""Past queries and snapshots in the tune mode."""

from kbx_tui.evaluation.judgments import TuningSnapshot, knobs_of
from kbx_tui.evaluation.metrics import paired_difference
from kbx_tui.evaluation.past_queries import AskedQuery, Outcome, ThresholdObservatory
from kbx_tui.search.request import Tuning
from kbx_tui.tui.drawing.lines import Line, width_of
from kbx_tui.tui.judging.live_measure import SearchSettings
from kbx_tui.tui.tune.model import PastQueries, compare_snapshots, joined, snapshot_rows
from kbx_tui.tui.tune.panes import histogram_lines, outcome_words, past_query_lines

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


def test_groups_of_queries_add_up_and_shares_are_those_of_the_nearest_threshold() -> None:
    both = joined(joined(None, ONE), TWO)
    assert both.queries[0].query == "rollback"
    assert (len(both.queries), both.histogram[14]) == (3, 3)

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
    assert "best entity scores of 1 past query, results opened" in same
    assert "change" not in same


def test_histogram_has_the_threshold_in_its_place() -> None:
    lines = histogram_lines(ONE.histogram, 0.5, 62)
    assert all(width_of(line) <= 62 for line in lines)
    for line in text(lines[:-1]).split("\n"):
        assert line.index("│") == 31
    assert "█" in text(lines)
    assert text(histogram_lines(ONE.histogram, 1.0, 62)[:1]).endswith("│")
    assert "█" not in text(histogram_lines((0,) * 20, 0.5, 62))


def snapshot(tuning: Tuning) -> TuningSnapshot:
    return TuningSnapshot("2026-03-17T09:41:05Z", knobs_of(tuning))


def test_rows_are_newest_first_with_p_adjusted_for_their_number() -> None:
    snapshots = [snapshot(Tuning(alpha=alpha)) for alpha in (0.1, 0.3)]
    differences = [
        paired_difference([0.5] * 6, [0.6] * 6),
        paired_difference([0.5] * 6, [0.6, 0.6, 0.5, 0.5, 0.4, 0.5]),
    ]
    second, first = snapshot_rows(snapshots, differences, SearchSettings(Tuning(alpha=0.3)))
    assert (first.is_pinned, second.is_pinned) == (False, True)
    assert first.p_holm == 2 * differences[0].p
    assert first.comparison.startswith("wins 6, ties 0, losses 0  +.10 (+.10 to +.10)  p .062")
    assert second.comparison.startswith("wins 2, ties 3, losses 1  +.02 (")
    assert first.when == "2026-03-17 09:41"


def test_equal_results_and_another_ranking_say_so() -> None:
    same = paired_difference([0.5, 0.7], [0.5, 0.7])
    snapshots = [snapshot(Tuning()), snapshot(Tuning.seed())]
    seed, default = snapshot_rows(snapshots, (same, None), None)
    assert default.comparison == "wins 0, ties 2, losses 0  the same results"
    assert seed.comparison == "not measured"
    assert compare_snapshots(None, Tuning(), snapshots) == (None, None)


def test_words_name_every_knob_that_differs_from_the_usual() -> None:
    tuning = Tuning(alpha=0.3, max_entities=8, gate="hard", parent="max", hotness_weight=0.1)
    words = "two-pass, alpha .30, threshold .50, 8 entities kept, hard gate, parent score max"
    assert SearchSettings(tuning).words() == f"{words}, openings .10"
    assert SearchSettings(Tuning.seed()).words().endswith("threshold .50, ranking of the seed")
