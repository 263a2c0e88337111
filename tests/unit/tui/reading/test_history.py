"""Going back through what was read."""

from __future__ import annotations

from kbx_tui.tui.reading.history import MOST_STEPS, Step, Trail

CARD, NOTE, OTHER = Step("card", "person:a"), Step("document", "a.md"), Step("document", "b.md")


def test_back_leads_through_what_was_read() -> None:
    trail = Trail()
    for step in (CARD, NOTE, OTHER):
        trail.go(step)
    assert trail.back() == NOTE
    assert trail.back() == CARD
    assert trail.back() is None
    assert trail.back() is None


def test_what_is_replaced_is_no_way_back() -> None:
    trail = Trail()
    trail.go(CARD)
    trail.go(NOTE)
    trail.replace(OTHER)
    assert trail.back() == CARD


def test_the_same_thing_again_is_one_step() -> None:
    trail = Trail()
    trail.go(NOTE)
    trail.go(NOTE)
    assert trail.back() is None


def test_a_trail_does_not_grow_for_ever() -> None:
    trail = Trail()
    for number in range(MOST_STEPS * 2):
        trail.go(Step("document", f"{number}.md"))
    assert len(trail.steps) == MOST_STEPS
