"""Two settings side by side: what moved, what was lost, what was gained, and why. Pure.

The two rankings may be of different Evidence of one query, retrieved with other filters, another
preset or without vectors: documents are matched by path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kbx_tui.formatting import format_change, format_score
from kbx_tui.search.comparing.score_parts import score_parts
from kbx_tui.search.ranking.rank import Ranked, Ranking

TOP = 10
LEAST_CHANGE = 0.0005
"""Smallest change of a score or part that is shown with three decimals."""


@dataclass(frozen=True, slots=True)
class RankChange:
    """Where one document stands under two settings."""

    path: str
    title: str
    before: int | None
    """Rank under the first setting, also below the top; None where it is not a result."""
    after: int | None
    reason: str
    """Why it was lost or gained; empty for a document that is in the top of both."""

    @property
    def distance(self) -> int:
        """How many places it rose; negative if it fell. 0 without both ranks."""
        return 0 if self.before is None or self.after is None else self.before - self.after


@dataclass(frozen=True, slots=True)
class Comparison:
    """The top results of one query under two settings."""

    before: tuple[Ranked, ...]
    """The top under the first setting, best first."""
    after: tuple[Ranked, ...]
    kept: tuple[RankChange, ...]
    """Documents in both, by their rank under the second setting."""
    lost: tuple[RankChange, ...]
    """Documents only in the first, by rank."""
    gained: tuple[RankChange, ...]
    """Documents only in the second, by rank."""

    @property
    def moved(self) -> tuple[RankChange, ...]:
        """Those of `kept` with another rank."""
        return tuple(change for change in self.kept if change.distance)


def compare(before: Ranking, after: Ranking, limit: int = TOP) -> Comparison:
    """Return the top `limit` results of two rankings of one query, and how they differ."""
    one, other = _Standings(before, limit), _Standings(after, limit)
    return Comparison(
        before=one.top,
        after=other.top,
        kept=tuple(_change(one, other, path, "") for path in other.paths if path in one.paths),
        lost=tuple(
            _change(one, other, path, _why_left(one, other, path))
            for path in one.paths
            if path not in other.paths
        ),
        gained=tuple(
            _change(one, other, path, _why_entered(one, other, path))
            for path in other.paths
            if path not in one.paths
        ),
    )


class _Standings:
    """Where the documents of one ranking stand, by path."""

    def __init__(self, ranking: Ranking, limit: int) -> None:
        self.ranking, self.limit = ranking, limit
        self.top = ranking.top(limit)
        self.paths = [ranking.evidence.paths[ranked.row] for ranked in self.top]

    @cached_property
    def rows(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self.ranking.evidence.paths)}

    @cached_property
    def ranks(self) -> dict[int, int]:
        return {row: rank for rank, row in enumerate(self.ranking.order.tolist(), 1)}

    def rank(self, path: str) -> int | None:
        return self.ranks.get(self.rows.get(path, -1))

    def score(self, path: str) -> float:
        return float(self.ranking.final[self.rows[path]])

    def title(self, path: str) -> str | None:
        row = self.rows.get(path)
        return None if row is None else self.ranking.evidence.titles[row]

    def why_no_result(self, path: str) -> str:
        """Return why a document without a rank is not a result."""
        row, ranking = self.rows.get(path), self.ranking
        if row is None:
            return "left out by a filter"
        hard = bool(ranking.kept) and ranking.tuning.gate == "hard"
        if hard and not ranking.is_linked[row]:
            return "not linked to a kept entity, which the hard gate requires"
        return "says nothing of what is asked"


def _change(one: _Standings, other: _Standings, path: str, reason: str) -> RankChange:
    title = other.title(path) or one.title(path) or path
    return RankChange(path, title, one.rank(path), other.rank(path), reason)


def _why_left(one: _Standings, other: _Standings, path: str) -> str:
    if other.rank(path) is None:
        return other.why_no_result(path)
    return _score_words(one, other, path, falls=True)


def _why_entered(one: _Standings, other: _Standings, path: str) -> str:
    if one.rank(path) is None:
        return f"was not a result: {one.why_no_result(path)}"
    return _score_words(one, other, path, falls=False)


def _score_words(one: _Standings, other: _Standings, path: str, *, falls: bool) -> str:
    """Return what changed the score of a document, or else that others passed or fell behind it."""
    before, after = one.score(path), other.score(path)
    sign = -1.0 if falls else 1.0
    if sign * (after - before) < LEAST_CHANGE:
        if falls:
            last = float(other.ranking.final[other.top[-1].row])
            place = f"place {len(other.top)} needs {format_score(last)}"
            return f"others passed it: {place}, it has {format_score(after)}"
        return f"others fell behind it: it has {format_score(after)}"
    old = score_parts(one.ranking, one.rows[path])
    new = score_parts(other.ranking, other.rows[path])
    name = max(old, key=lambda part: sign * (new[part] - old[part]))
    change = format_change(new[name] - old[name])
    return f"score {format_score(before)} to {format_score(after)}: {name} {change}"
