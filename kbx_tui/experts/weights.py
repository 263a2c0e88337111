"""What one claim adds to the score of whom it is about. Pure.

count      1
recency    2^(-age in days / half-life)
citation   distinct sources x confidence
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Literal, get_args

from kbx_tui.experts.claims import Claim

Weight = Literal["count", "recency", "citation", "relevance"]
WEIGHTS: tuple[Weight, ...] = get_args(Weight)


def known_weight(name: str) -> Weight:
    """Return the weight of this name; an unknown one counts."""
    return next((weight for weight in WEIGHTS if weight == name), "count")


def contribution(weight: Weight, now: date, half_life_days: float) -> Callable[[Claim], float]:
    """Return what tells the contribution of a claim, 0 or more, on the day `now`."""
    if weight == "recency":
        return lambda claim: decay(claim.date, now, half_life_days)
    if weight == "citation":
        return lambda claim: len(set(claim.sources)) * claim.confidence
    return lambda claim: 1.0


def decay(day: str, now: date, half_life_days: float) -> float:
    """Return 1 for today and what lies ahead, a half after one half-life, 0 for an unknown day."""
    if not day:
        return 0.0
    age = max((now - date.fromisoformat(day)).days, 0)
    return float(2.0 ** (-age / half_life_days))
