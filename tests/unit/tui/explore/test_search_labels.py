"""Labels for modes and signals."""

from __future__ import annotations

import pytest

from kbx_tui.search.evidence.evidence import Signal
from kbx_tui.tui.drawing.cell_text import longest_fitting
from kbx_tui.tui.explore.chips import mode_candidates
from kbx_tui.tui.explore.presenting import signal_words
from kbx_tui.tui.explore.view import Mode


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (
            Mode("two-pass", "Alice Chen + Migration", "default", 9.4, 1.0),
            "two-pass · Alice Chen + Migration · 9 ms",
        ),
        (
            Mode("two-pass", "Alice Chen", "seed", 9.4, 1.0),
            "two-pass, seed · Alice Chen · 9 ms",
        ),
        (Mode("flat", "no entity named", "default", 12.0, 1.0), "flat · no entity named · 12 ms"),
        (Mode("fast", "", "default", 3.0, 1.0), "fast · 3 ms"),
        (
            Mode("flat", "switched off", "default", 3.0, 0.34),
            "flat · switched off · meaning 34 % · 3 ms",
        ),
        (
            Mode("fast", "", "default", 3.0, 1.0, is_cut=True),
            "fast · first 2,000 characters · 3 ms",
        ),
    ],
    ids=["two-pass", "seed", "flat", "fast", "vectors-incomplete", "cut"],
)
def test_badge_shows_mode_reason_and_time(mode: Mode, text: str) -> None:
    assert mode_candidates(mode)[0] == text


def test_small_badge_keeps_mode_and_reason() -> None:
    mode = Mode("flat", "entities below the threshold", "default", 12.0, 1.0)
    assert longest_fitting(mode_candidates(mode), 24) == "flat · below threshold"
    assert longest_fitting(mode_candidates(mode), 6) == "flat"


def test_several_facts_are_counted() -> None:
    signals = [Signal("name", 1.0, "alice"), Signal("fact", 0.4, "a"), Signal("fact", 0.3, "b")]
    assert signal_words(signals) == "name “alice”, 2 facts"


def test_escape_sequences_are_removed_from_signals() -> None:
    assert "\x1b" not in signal_words([Signal("fact", 0.4, "\x1b[2Jgone")])
