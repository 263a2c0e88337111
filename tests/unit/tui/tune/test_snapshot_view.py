"""Snapshots in words, and beside the current settings."""

from __future__ import annotations

from kbx_tui.evaluation.judgments import knobs_of
from kbx_tui.evaluation.significance import paired_difference
from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot
from kbx_tui.search.request import Tuning
from kbx_tui.tui.judging.live_measure import SearchSettings
from kbx_tui.tui.tune.snapshots import compare_snapshots, snapshot_rows


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
