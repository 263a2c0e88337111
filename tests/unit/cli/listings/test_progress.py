from __future__ import annotations

import pytest

from kbx_tui.cli.output import ProgressLines, format_pace
from kbx_tui.index.build.progress import Progress, Stage


def progress_of(stage: Stage, done: int, total: int, rate: float = 0.0) -> Progress:
    left = (total - done) / rate if rate else None
    return Progress(stage, done, total, rate, left, searchable=False)


def test_a_line_is_printed_per_stage_and_then_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    listener = ProgressLines(clock=lambda: now)
    listener(progress_of("reading", 0, 5_706))
    listener(progress_of("reading", 100, 5_706))
    now = 4.0
    listener(progress_of("vectors", 0, 1_204))
    now = 13.9
    listener(progress_of("vectors", 300, 1_204, 30.0))
    now = 14.0
    listener(progress_of("vectors", 312, 1_204, 31.2))
    assert capsys.readouterr().err.splitlines() == [
        "kbx: reading: 5,706",
        "kbx: vectors: 1,204",
        "kbx: vectors: 312 of 1,204, 31/s, 29 s left",
    ]


def test_stage_of_one_step_prints_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    ProgressLines()(progress_of("text index", 0, 1))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("progress", "pace"),
    [
        (progress_of("vectors", 0, 10), ""),
        (progress_of("vectors", 9, 10, 5.0), "5/s"),
        (progress_of("vectors", 100, 1_000, 2.0), "2/s, 8 min left"),
    ],
    ids=["unknown", "nearly-done", "minutes"],
)
def test_pace_omits_what_is_unknown(progress: Progress, pace: str) -> None:
    assert format_pace(progress) == pace
