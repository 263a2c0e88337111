"""A measure over the values of one knob, with the other knobs as they are. Pure.

`curve_reading` computes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from kbx_tui.formatting import format_p, format_score
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.tui.tune.tunable import Tunable, Value

Measure = Literal["ndcg", "judged"]
MEASURES: dict[Measure, str] = {"ndcg": "nDCG@10", "judged": "judged@10"}
"""Name of each measure, in the order in which a key switches between them."""
LEAST_GAIN = 0.0005
"""Gain below which the current value counts as the best: it shows as .00."""
SIGNIFICANCE = 0.05
"""As in `evaluation.significance`, which needs numpy: it is not loaded before the first paint."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Means over the judged queries for each value of a knob."""

    knob: Tunable
    measure: Measure
    tuning: Tuning
    """The current settings."""
    values: tuple[Value, ...]
    """Those of the knob; parallel to the next three."""
    means: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    """Ends of the 95 % intervals of the means."""
    queries: int
    now: float
    """Mean of the current value."""
    now_low: float
    now_high: float

    @property
    def current(self) -> Value:
        """The current value of the knob."""
        return self.knob.value_in(self.tuning)

    @property
    def best(self) -> int:
        """Place in `values` of the best one; of equally good ones, the closest to the current."""
        highest = max(self.means) - 1e-12
        here = self.knob.position(self.current)
        good = (place for place, mean in enumerate(self.means) if mean >= highest)
        return min(good, key=lambda place: abs(self.knob.position(self.values[place]) - here))

    @property
    def gain(self) -> float:
        """How much better the best value is than the current one; at least 0."""
        return max(self.means[self.best] - self.now, 0.0)

    @property
    def has_gain(self) -> bool:
        """Whether the best value is worth mentioning beside the current one."""
        return self.gain >= LEAST_GAIN


def curve_words(curve: Curve, p: float | None) -> str:
    """Return the curve in a sentence; `p` of the best value is None while it is not known.

    `alpha .50 now .71; best .62 .74 (+.03, p .21, may be chance)`.
    """
    name, text = curve.knob.name, curve.knob.text
    now = f"{name} {text(curve.current)} now {format_score(curve.now)}"
    if not curve.has_gain:
        return f"{now}; no other value is better"
    best = f"best {text(curve.values[curve.best])} {format_score(curve.means[curve.best])}"
    gain = f"+{format_score(curve.gain)}" if curve.gain >= 0.005 else "less than +.01"
    if curve.measure == "judged":
        return (
            f"{now}; most {text(curve.values[curve.best])} {format_score(curve.means[curve.best])}"
        )
    if p is None:
        return f"{now}; {best} ({gain})"
    advice = ", may be chance" if p > SIGNIFICANCE else ": see what optimising says"
    return f"{now}; {best} ({gain}, p {format_p(p)}{advice})"


def y_range(curve: Curve) -> tuple[float, float]:
    """Return the least and the greatest figure of the plot, multiples of .05 in 0..1."""
    low = min(max(floor(min(*curve.low, curve.now_low) * 20 + 1e-9) / 20, 0.0), 0.95)
    high = ceil(max(*curve.high, curve.now_high) * 20 - 1e-9) / 20
    return low, min(max(high, low + 0.05), 1.0)
