"""Which document of a query to judge next, and how a grade is shown. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2

DEPTH = 10
"""Results that nDCG@10 looks at."""


def judging_order(now: Sequence[str], start: Sequence[str], judged: Collection[str]) -> list[str]:
    """Return the documents to judge among the first 10 of two rankings, the next one first.

    `now` and `start` are paths, best first. A document weighs by how much the discounts
    `1 / log2(rank + 1)` of its two ranks differ, 0 beyond the first 10: by so much it would change
    the difference of nDCG. Those of equal weight come in the order of `now`, then of `start`.
    """
    discounts_now, discounts_start = _discounts(now), _discounts(start)
    weights = {
        path: abs(discounts_now.get(path, 0.0) - discounts_start.get(path, 0.0))
        for path in (*discounts_now, *discounts_start)
        if path not in judged
    }
    return sorted(weights, key=lambda path: -weights[path])


def _discounts(paths: Sequence[str]) -> dict[str, float]:
    return {path: 1.0 / log2(rank + 1) for rank, path in enumerate(paths[:DEPTH], 1)}


UNSURE, NO_GRADE = "?", " "


def grade_sign(grades: Mapping[str, int | None], path: str) -> str:
    """Return `0` to `3`, `?` for not sure, or a blank for a document without a grade."""
    if path not in grades:
        return NO_GRADE
    grade = grades[path]
    return UNSURE if grade is None else str(grade)
