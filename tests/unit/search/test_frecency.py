"""Frecency grows with openings and halves every week."""

from math import exp, log
from pathlib import Path

import pytest

from kbx_tui.search.frecency import DAY, OpenedDocuments

ROWS = {"memory/a.md": 0, "memory/b.md": 1}


def test_frecency_is_frequency_times_recency(tmp_path: Path) -> None:
    opened = OpenedDocuments(tmp_path)
    for day in (1, 4, 9):
        opened.add("memory/b.md", now=day * DAY)
    sigmoid = 1 / (1 + exp(-log(1 + 3)))
    expected = [0.0, sigmoid * 2 ** (-7 / 7)]
    assert opened.frecency(ROWS, now=16 * DAY).tolist() == pytest.approx(expected)


def test_openings_count_immediately_and_for_other_readers(tmp_path: Path) -> None:
    opened = OpenedDocuments(tmp_path)
    assert opened.frecency(ROWS).tolist() == [0.0, 0.0]
    opened.add("memory/a.md", now=DAY)
    once = opened.frecency(ROWS, now=DAY)[0]
    opened.add("memory/a.md", now=DAY)
    assert opened.frecency(ROWS, now=DAY)[0] > once == pytest.approx(2 / 3)
    assert OpenedDocuments(tmp_path).frecency(ROWS, now=DAY)[0] == opened.frecency(ROWS, now=DAY)[0]
    assert (tmp_path / ".kbx" / ".gitignore").exists()


def test_opening_in_the_future_counts_like_one_now(tmp_path: Path) -> None:
    opened = OpenedDocuments(tmp_path)
    opened.add("memory/a.md", now=9 * DAY)
    assert opened.frecency(ROWS, now=DAY)[0] == pytest.approx(2 / 3)


def test_malformed_lines_and_deleted_documents_are_ignored(tmp_path: Path) -> None:
    opened = OpenedDocuments(tmp_path)
    opened.add("memory/gone.md", now=DAY)
    file = tmp_path / ".kbx" / "usage.jsonl"
    file.write_text(file.read_text() + '{"path": "memory/a.md"}\n[]\n{"pa', encoding="utf-8")
    assert opened.frecency(ROWS, now=DAY).tolist() == [0.0, 0.0]


def test_write_errors_are_ignored(tmp_path: Path) -> None:
    (tmp_path / ".kbx").write_text("in the way")
    OpenedDocuments(tmp_path).add("memory/a.md")
