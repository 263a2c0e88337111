"""Modes, signals and progress in words."""

from __future__ import annotations

import pytest

from kbx_tui.index.build.progress import Progress
from kbx_tui.search.evidence.evidence import Signal
from kbx_tui.tui.explore.panes.mode_badge import choose
from kbx_tui.tui.explore.search_labels import mode_candidates, progress_words, signal_words
from kbx_tui.tui.explore.view import Mode


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (
            Mode("two-pass", "Alice Chen + Migration", 9.4, 1.0),
            "two-pass · Alice Chen + Migration · 9 ms",
        ),
        (Mode("flat", "no entity named", 12.0, 1.0), "flat · no entity named · 12 ms"),
        (Mode("fast", "", 3.0, 1.0), "fast · 3 ms"),
        (Mode("flat", "switched off", 3.0, 0.34), "flat · switched off · meaning 34 % · 3 ms"),
    ],
    ids=["two-pass", "flat", "fast", "vectors-coming"],
)
def test_the_badge_says_mode_reason_and_time(mode: Mode, words: str) -> None:
    assert mode_candidates(mode)[0] == words


def test_a_small_badge_keeps_mode_and_reason() -> None:
    mode = Mode("flat", "entities below the threshold", 12.0, 1.0)
    assert choose(mode_candidates(mode), 24) == "flat · below threshold"
    assert choose(mode_candidates(mode), 6) == "flat"


def test_several_facts_are_counted() -> None:
    signals = [Signal("name", 1.0, "alice"), Signal("fact", 0.4, "a"), Signal("fact", 0.3, "b")]
    assert signal_words(signals) == "name “alice”, 2 facts"


def test_a_signal_from_a_file_acts_on_nothing() -> None:
    assert "\x1b" not in signal_words([Signal("fact", 0.4, "\x1b[2Jgone")])


def test_progress_tells_stage_count_and_time_left() -> None:
    progress = Progress("vectors", 312, 1204, 40.0, 26.2, True)
    assert progress_words(progress) == "indexing: vectors 312 of 1,204, 26 s left"
