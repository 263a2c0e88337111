"""The history of documents and cards that were read."""

from __future__ import annotations

from kbx_tui.tui.explore.reader import MAX_STEPS, History, Step

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
