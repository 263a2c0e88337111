"""Reading in explore: the history, and passages as they are copied."""

import pytest

from kbx_tui.tui.explore.reader import MAX_STEPS, History, Step
from kbx_tui.tui.reading.documents import whole_passage

CARD, NOTE, OTHER = Step("card", "person:a"), Step("document", "a.md"), Step("document", "b.md")


def test_back_returns_the_previous_steps_in_reverse() -> None:
    history = History()
    for step in (CARD, NOTE, OTHER):
        history.go(step)
    assert history.back() == NOTE
    assert history.back() == CARD
    assert history.back() is None
    assert history.back() is None


def test_a_replaced_step_is_not_returned_to() -> None:
    history = History()
    history.go(CARD)
    history.go(NOTE)
    history.replace(OTHER)
    assert history.back() == CARD


def test_repeating_a_step_adds_none() -> None:
    history = History()
    history.go(NOTE)
    history.go(NOTE)
    assert history.back() is None


def test_history_is_limited() -> None:
    history = History()
    for number in range(MAX_STEPS * 2):
        history.go(Step("document", f"{number}.md"))
    assert len(history.steps) == MAX_STEPS


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
