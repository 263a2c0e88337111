"""The lines of the why pane."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.explore.why_pane import weight_text


@given(st.floats(0.0, 1.0))
def test_a_weight_of_many_digits_is_shown_in_full(weight: float) -> None:
    shown = Fraction(weight_text(round(weight, 6)) or "0")
    assert abs(shown - Fraction(weight)) <= Fraction(1, 10**6)
