"""A rounded formula still holds with the digits shown."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.explore.present_why import formula_values

hundredths = st.integers(0, 100).map(lambda number: number / 100)
HALF = Fraction(1, 200)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2), hundredths)
def test_rounded_values_give_the_rounded_total(values: list[float], alpha: float) -> None:
    weights = [alpha, round(1.0 - alpha, 2)]
    total = alpha * values[0] + (1.0 - alpha) * values[1]
    rounded = formula_values(total, weights, values)
    result = sum(Fraction(str(w)) * Fraction(str(v)) for w, v in zip(weights, rounded, strict=True))
    assert abs(result - Fraction(f"{total:.2f}")) <= HALF
    assert all(abs(r - v) < 0.01 for r, v in zip(rounded, values, strict=True))


def test_exact_values_are_kept_when_the_formula_holds() -> None:
    assert formula_values(0.86, [0.5, 0.5], [0.78, 0.94]) == [0.78, 0.94]
