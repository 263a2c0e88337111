"""What is opened often and lately is hot."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import pytest

from kbx_tui.search.frecency import DAY, Usage

ROWS = {"memory/a.md": 0, "memory/b.md": 1}


def test_hotness_is_often_times_lately(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    for day in (1, 4, 9):
        usage.opened("memory/b.md", now=day * DAY)
    sigmoid = 1 / (1 + exp(-log(1 + 3)))
    expected = [0.0, sigmoid * 2 ** (-7 / 7)]
    assert usage.hotness(ROWS, now=16 * DAY).tolist() == pytest.approx(expected)


def test_an_opening_counts_at_once_and_for_whoever_reads_next(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    assert usage.hotness(ROWS).tolist() == [0.0, 0.0]
    usage.opened("memory/a.md", now=DAY)
    once = usage.hotness(ROWS, now=DAY)[0]
    usage.opened("memory/a.md", now=DAY)
    assert usage.hotness(ROWS, now=DAY)[0] > once == pytest.approx(2 / 3)
    assert Usage(tmp_path).hotness(ROWS, now=DAY)[0] == usage.hotness(ROWS, now=DAY)[0]
    assert (tmp_path / ".kbx" / ".gitignore").exists()


def test_a_clock_that_was_set_back_makes_nothing_hotter_than_now(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    usage.opened("memory/a.md", now=9 * DAY)
    assert usage.hotness(ROWS, now=DAY)[0] == pytest.approx(2 / 3)


def test_lines_that_are_none_and_files_that_are_gone_are_passed_over(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    usage.opened("memory/gone.md", now=DAY)
    file = tmp_path / ".kbx" / "usage.jsonl"
    file.write_text(file.read_text() + '{"path": "memory/a.md"}\n[]\n{"pa', encoding="utf-8")
    assert usage.hotness(ROWS, now=DAY).tolist() == [0.0, 0.0]


def test_what_cannot_be_noted_is_not(tmp_path: Path) -> None:
    (tmp_path / ".kbx").write_text("in the way")
    Usage(tmp_path).opened("memory/a.md")
