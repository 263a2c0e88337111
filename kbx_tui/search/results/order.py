"""The order of results: by score, or the best ones by date. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbx_tui.search.ranking.rank import Ranked, Ranking

MAX_BY_DATE = 50
"""Results listed by date: the newest of many weak results would answer nothing."""


def in_order(ranking: Ranking, sort: str, limit: int) -> list[Ranked]:
    """Return at most `limit` results: the best ones or, with `date`, the newest of the best.

    Results of the same date are ordered by score; those without a date come last.
    """
    if sort != "date":
        return list(ranking.top(limit))
    dates = ranking.evidence.dates
    best = ranking.top(MAX_BY_DATE)
    return sorted(best, key=lambda ranked: dates[ranked.row], reverse=True)[:limit]
