"""Rounds a formula so that it still holds with the digits shown on screen. Pure.

The score is shown as a sum of weight times value. Each value may be rounded down or up; of all
combinations whose sum rounds to the score as shown, the one nearest to the exact values is taken.
One always exists, because the weights sum to 1: with every value rounded down the sum is at most
the exact one, with every value rounded up it is at least that and one last digit larger, so one of
the two rounds to the same score.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import floor

UNIT = Fraction(1, 100)
"""The last digit shown on screen."""


def formula_values(total: float, weights: Sequence[float], values: Sequence[float]) -> list[float]:
    """Return `values` rounded so that the sum of weight times value rounds to `total` rounded.

    The weights sum to 1 and are shown in full; `total` is the exact sum. Each returned value is
    within one last digit of the exact one.
    """
    target = Fraction(f"{total:.2f}")
    factors = [Fraction(str(weight)) for weight in weights]
    exact = [Fraction(value) / UNIT for value in values]

    def cost(candidate: tuple[int, ...]) -> tuple[bool, Fraction]:
        result = sum((w * n for w, n in zip(factors, candidate, strict=True)), Fraction(0)) * UNIT
        error = sum((abs(n - e) for n, e in zip(candidate, exact, strict=True)), Fraction(0))
        return abs(result - target) > UNIT / 2, error

    candidates = product(*(_nearest_integers(value) for value in exact))
    return [float(units * UNIT) for units in min(candidates, key=cost)]


def _nearest_integers(value: Fraction) -> tuple[int, ...]:
    """Return the integers around `value`, or just one if it is an integer up to float error."""
    nearest = round(value)
    if abs(value - nearest) < Fraction(1, 10**7):
        return (nearest,)
    return (floor(value), floor(value) + 1)
