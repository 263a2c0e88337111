"""The lines of the entity list and of the entity strip."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.drawing.lines import width_of
from kbx_tui.tui.explore.entity_list import (
    count_passing,
    entity_line,
    entity_strip_line,
    reasons,
    score_text,
    threshold_line,
)
from kbx_tui.tui.explore.view import EntityRow

names = st.text(alphabet="abc é港🛳", max_size=60)


def entity(name: str = "Alice Chen", score: float = 1.0, kept: bool = True) -> EntityRow:
    return EntityRow("person:a", name, "person", "", score, kept, "name “alice”")


@given(names, st.integers(30, 60))
def test_an_entity_fills_its_line_exactly(name: str, width: int) -> None:
    assert width_of(entity_line(entity(name), width)) == width


def test_the_threshold_is_drawn_between_kept_and_other_entities() -> None:
    entities = (entity(), entity("Platform", 0.41, kept=False))
    assert count_passing(entities, 0.5) == 1
    text = "".join(span.text for span in entity_strip_line(entities, 0.5, 80))
    assert text == " ● Alice Chen 1.00 ┊ .50 ┊ ○ Platform .41"
    assert width_of(threshold_line(0.5, 34)) == 34


def test_score_just_below_the_threshold_is_not_shown_as_the_threshold() -> None:
    assert score_text(0.4496, 0.45) == ".449"
    assert score_text(0.45, 0.45) == ".45"
    assert score_text(0.44, 0.45) == ".44"
    assert score_text(0.9999, 1.0) == ".999"


def test_reason_names_why_an_entity_above_the_threshold_is_left_out() -> None:
    left_out = replace(entity(kept=False), left_out="only the best 5 count")
    assert reasons(left_out) == "only the best 5 count, name “alice”"
