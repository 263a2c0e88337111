"""Passages as they are copied."""

import pytest

from kbx_tui.tui.reading.documents import whole_passage

TEXT = """\
# Plan

The cut-over begins
at ten. It ends
at one.

- Bob stops the
  writes
- Marek opens

| Point | When |
|---|---|
| A | 22:00 |
```
one

two
```"""
LINES = TEXT.split("\n")


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (4, 4, "The cut-over begins", "at one."),
        (3, 3, "The cut-over begins", "at one."),
        (7, 7, "- Bob stops the", "  writes"),
        (8, 9, "- Bob stops the", "- Marek opens"),
        (1, 1, "# Plan", "# Plan"),
        (13, 13, "| A | 22:00 |", "| A | 22:00 |"),
        (5, 99, "The cut-over begins", "```"),
    ],
)
def test_lines_are_extended_to_their_paragraphs(
    start: int, end: int, first: str, last: str
) -> None:
    passage = whole_passage(LINES, start, end).split("\n")
    assert (passage[0], passage[-1]) == (first, last)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 5), (99, 99), (5, 4)])
def test_lines_that_do_not_exist_give_nothing(start: int, end: int) -> None:
    assert whole_passage(LINES, start, end) == ""
