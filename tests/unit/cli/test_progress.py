from __future__ import annotations

import pytest

from kbx_tui.cli.progress import PlainLines, pace_words
from kbx_tui.index.build.progress import Progress, Stage


def at(stage: Stage, done: int, total: int, rate: float = 0.0) -> Progress:
    left = (total - done) / rate if rate else None
    return Progress(stage, done, total, rate, left, searchable=False)


def test_lines_tell_each_stage_once_and_then_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    hear = PlainLines(clock=lambda: now)
    hear(at("reading", 0, 5_706))
    hear(at("reading", 100, 5_706))
    now = 4.0
    hear(at("vectors", 0, 1_204))
    now = 13.9
    hear(at("vectors", 300, 1_204, 30.0))
    now = 14.0
    hear(at("vectors", 312, 1_204, 31.2))
    assert capsys.readouterr().err.splitlines() == [
        "kbx: reading: 5,706",
        "kbx: vectors: 1,204",
        "kbx: vectors: 312 of 1,204, 31/s, 29 s left",
    ]


def test_a_stage_of_one_step_is_not_worth_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    PlainLines()(at("text index", 0, 1))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (at("vectors", 0, 10), ""),
        (at("vectors", 9, 10, 5.0), "5/s"),
        (at("vectors", 100, 1_000, 2.0), "2/s, 8 min left"),
    ],
    ids=["unknown", "nearly-done", "minutes"],
)
def test_pace_says_what_is_known(progress: Progress, words: str) -> None:
    assert pace_words(progress) == words
