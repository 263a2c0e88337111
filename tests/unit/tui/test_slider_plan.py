"""Where the knob stands and which value a click means."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.widgets.number_slider import STEPS, SliderPlan, cell_of, position_at


@given(st.integers(0, STEPS), st.integers(2, 120))
def test_a_click_on_the_knob_moves_it_by_less_than_a_cell(position: int, track: int) -> None:
    there = position_at(cell_of(position, track), track)
    assert abs(there - position) <= STEPS / (track - 1)


@given(st.integers(-50, 200), st.integers(1, 120))
def test_a_click_beside_the_track_means_its_end(cell: int, track: int) -> None:
    assert 0 <= position_at(cell, track) <= STEPS


@given(st.integers(0, STEPS), st.integers(24, 160))
def test_the_slider_fits_its_width(position: int, width: int) -> None:
    plan = SliderPlan.of(width, "threshold", ("entity", "document"))
    assert plan.start + plan.track <= width
