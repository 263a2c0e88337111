"""The final scores of documents as lines over alpha: swap points, and many tunings at once. Pure.

    final(alpha) = factor * (alpha * answered + (1 - alpha) * parent) + opened

with factor = 1 - h and opened = h * frecency for a hotness weight h. `ScoreLines.final` does the
operations of `rank` in the same order, so its results for many alphas at once are bit-identical.

A document that at least `limit` others precede under every alpha is left out, so few are left,
whatever the size of the base. A document precedes another under every alpha if none of its answered
score, parent score and frecency is lower and ties are resolved in its favour; as rounding is
monotone, this also holds for the computed scores. (The rest is the "k-skyband" of database
research: Papadias et al. 2005, https://doi.org/10.1145/1061318.1061320.)

As the score of a document is linear in alpha, two documents swap places at no more than one alpha.
A swap point is an alpha at which two lines cross with fewer than `limit` documents above them. Only
the ends of the scale, 0 and 1, are special: many documents tie there, and a document that scores 0,
openings aside, is not a result. So an end is a swap point if the order at it differs from the order
just inside.

A reranker breaks this: at any alpha another document may enter the first 20 and be reranked, or may
not have been scored yet. So swap points are not given for a ranking that it changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.scores import Flags, Rows, Scores
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import Tuning

SAME_ALPHA = 1e-12
"""Crossings closer than this count as one: floating-point scores do not distinguish them."""
SAME_SCORE = 1e-15
PAIRS_AT_ONCE = 4096


def swap_points(ranking: Ranking, limit: int) -> tuple[float, ...]:
    """Return all alphas, ascending, at which the order of the top `limit` changes.

    The order is constant between neighbouring swap points. 0 or 1 is one if the order at that end
    differs from the order just inside. Empty for a flat or reranked ranking.
    """
    if ranking.search_mode == "flat" or ranking.is_reranked:
        return ()
    lines = ScoreLines.of(ranking, limit)
    at_0, above_0, below_1, at_1 = _orders_at_ends(lines, limit)
    points = [0.0] if at_0 != above_0 else []
    if above_0 != below_1:
        points += _crossings(lines, limit)
    return (*points, 1.0) if at_1 != below_1 else tuple(points)


def next_changes(ranking: Ranking, limit: int) -> tuple[float | None, float | None]:
    """Return the nearest swap points of the top `limit` below and above the current alpha.

    The current order holds between the two and changes just beyond each. If two documents tie now,
    one of the alphas may be the current one. None if the order does not change down to 0 or up
    to 1.
    """
    alpha, points = ranking.tuning.alpha, swap_points(ranking, limit)
    inner = [point for point in points if 0.0 < point < 1.0]
    close = {alpha}.intersection(points).union(p for p in inner if abs(p - alpha) <= SAME_ALPHA)
    below = max((point for point in points if point < alpha and point not in close), default=None)
    above = min((point for point in points if point > alpha and point not in close), default=None)
    if close:
        current, lines = ranking.best(limit).tolist(), ScoreLines.of(ranking, limit)
        if alpha > 0.0 and _order_at(lines, (alpha + (below or 0.0)) / 2, limit) != current:
            below = alpha
        end = 1.0 if above is None else above
        if alpha < 1.0 and _order_at(lines, (alpha + end) / 2, limit) != current:
            above = alpha
    return below, above


def alpha_note(ranking: Ranking, limit: int) -> str:
    if ranking.search_mode == "flat":
        kind = "fast" if ranking.evidence.fast else "flat"
        return f"alpha has no effect on a {kind} search"
    if ranking.is_reranked:
        return ""
    first, *others = _orders_at_ends(ScoreLines.of(ranking), limit)
    if any(order != first for order in others):
        return ""
    parents = ranking.parent_entity_score[ranking.included]
    if not len(parents) or np.ptp(parents) == 0.0:
        return "alpha has no effect: all results are linked equally"
    return "alpha has no effect: document and entity agree on the order"


def _orders_at_ends(lines: ScoreLines, limit: int) -> tuple[list[int], ...]:
    """Return the best rows at 0, just above 0, just below 1, and at 1.

    If the two orders just inside are equal, the order is constant between: two documents in the
    same order at both ends of an interval are so throughout.
    """
    inner = np.flatnonzero(lines.is_always_result | (lines.answered > 0.0) | (lines.parent > 0.0))
    start, end = _ends(lines)
    above_0 = inner[np.lexsort((-end[inner], -start[inner]))][:limit]
    below_1 = inner[np.lexsort((-start[inner], -end[inner]))][:limit]
    return (
        _order_at(lines, 0.0, limit),
        lines.rows[above_0].tolist(),
        lines.rows[below_1].tolist(),
        _order_at(lines, 1.0, limit),
    )


def _order_at(lines: ScoreLines, alpha: float, limit: int) -> list[int]:
    best = lines.best(np.array([alpha]), limit)[0].tolist()
    return [row for row in best if row != NO_ROW]


def _ends(lines: ScoreLines) -> tuple[Scores, Scores]:
    """Return the scores near alpha 0 and 1; infinite for known items, which always come first."""
    start, end = (lines.factor * scores + lines.opened for scores in (lines.parent, lines.answered))
    start[lines.is_known_item] = end[lines.is_known_item] = np.inf
    return start, end


def _crossings(lines: ScoreLines, limit: int) -> list[float]:
    """Return the alphas in 0..1 where two lines cross with fewer than `limit` above, ascending."""
    movable = ~lines.is_known_item
    start, end = (scores[movable] for scores in _ends(lines))
    above_all = len(lines) - len(start)
    one, other = np.triu_indices(len(start), k=1)
    leads = start[one] - start[other], end[one] - end[other]
    crossing = np.flatnonzero(np.sign(leads[0]) * np.sign(leads[1]) < 0.0)
    one, first, last = one[crossing], leads[0][crossing], leads[1][crossing]
    alphas = first / (first - last)
    counted = np.zeros(len(alphas), np.bool_)
    for batch in np.array_split(np.arange(len(alphas)), len(alphas) // PAIRS_AT_ONCE + 1):
        alpha = alphas[batch, None]
        scores = start + alpha * (end - start)
        level = np.take_along_axis(scores, one[batch, None], axis=1) + SAME_SCORE
        counted[batch] = above_all + np.count_nonzero(scores > level, axis=1) < limit
    points: list[float] = []
    for point in np.unique(alphas[counted]).tolist():
        if not points or point - points[-1] > SAME_ALPHA:
            points.append(point)
    return points


NO_RESULT = -1.0
"""The score of a document that is not a result: below all others."""
NO_ROW = -1
BLOCK = 128


@dataclass(frozen=True, slots=True)
class ScoreLines:
    """The score lines of the n documents that may be among the best; arrays have shape (n,)."""

    rows: Rows
    """Rows of the Evidence, in the order in which ties are resolved."""
    answered: Scores
    """Score at alpha 1, before frecency."""
    parent: Scores
    """Score at alpha 0, before frecency."""
    opened: Scores
    factor: float
    """Weight of the scores other than frecency, 0..1."""
    is_known_item: Flags
    is_always_result: Flags
    is_flat: bool
    """True if alpha has no effect: `answered` is the score."""

    @classmethod
    def of(cls, ranking: Ranking, limit: int | None = None) -> Self:
        """Return the lines of a ranking.

        With `limit`, only of documents that may be among that many. A reranker is ignored. Raises
        OutOfRange for evidence that was retrieved for one tuning only.
        """
        evidence, h = ranking.evidence, ranking.frecency_weight
        answered, parent = ranking.at(1.0).blended, ranking.at(0.0).blended
        always = known_items = ranking.is_known_item
        if ranking.lists_linked:
            always = known_items | ranking.is_linked | ranking.says_something
        results = always | (answered > 0.0) | (parent > 0.0)
        if ranking.kept and ranking.tuning.gate == "hard":
            results = results & ranking.is_linked
        rows = ranking.tie_order(np.flatnonzero(results | known_items))
        lines = cls(
            rows=rows,
            answered=answered[rows],
            parent=parent[rows],
            opened=np.where(ranking.may_score, h * evidence.frecency, 0.0)[rows],
            factor=1.0 - h,
            is_known_item=known_items[rows],
            is_always_result=always[rows],
            is_flat=not ranking.kept,
        )
        return lines if limit is None or len(rows) <= limit else lines._first(limit)

    def __len__(self) -> int:
        return len(self.rows)

    def final(self, alphas: Scores) -> Scores:
        """Return the final scores, shape (m, n), under `alphas`, shape (m,).

        NO_RESULT for a document that is not a result.
        """
        alpha = (np.ones_like(alphas) if self.is_flat else alphas)[:, None]
        blended = alpha * self.answered + (1.0 - alpha) * self.parent
        final = np.where(self.is_known_item, 1.0, self.factor * blended + self.opened)
        final[(blended <= 0.0) & ~self.is_always_result] = NO_RESULT
        return final

    def best(self, alphas: Scores, limit: int) -> NDArray[np.int64]:
        """Return the rows of the best `limit` documents under each alpha, best first.

        Shape (m, limit), NO_ROW where there are fewer results.
        """
        return self.in_order(self.final(alphas), limit)

    def in_order(self, final: Scores, limit: int) -> NDArray[np.int64]:
        order = np.argsort(-final, axis=1, kind="stable")[:, :limit]
        best = np.full((len(final), limit), NO_ROW)
        is_result = np.take_along_axis(final, order, axis=1) > NO_RESULT
        best[:, : order.shape[1]] = np.where(is_result, self.rows[order], NO_ROW)
        return best

    def _first(self, limit: int) -> Self:
        traits = np.stack((self.answered, self.parent, self.opened), axis=1)
        traits[self.is_known_item] = np.inf
        if not self.opened.any():
            traits = traits[:, :2]
        kept = _preceded_by_few(traits, limit)
        return replace(
            self,
            rows=self.rows[kept],
            answered=self.answered[kept],
            parent=self.parent[kept],
            opened=self.opened[kept],
            is_known_item=self.is_known_item[kept],
            is_always_result=self.is_always_result[kept],
        )


def _preceded_by_few(traits: Scores, limit: int) -> Rows:
    """Return the rows of `traits` that fewer than `limit` earlier rows match or exceed throughout.

    It suffices to count rows that are kept: a row that a dropped row precedes is also preceded by
    the rows before the dropped one.
    """
    head = min(max(limit, BLOCK), len(traits))
    floor = traits[:limit].min(axis=0)  # these all precede a row that is nowhere above it
    rest = head + np.flatnonzero((traits[head:] > floor).any(axis=1))
    blocks = [np.arange(head), *np.split(rest, range(BLOCK, len(rest), BLOCK))]
    kept = np.empty(0, np.int64)
    for block in blocks:
        earlier = _exceeded(traits[block], traits[kept]).sum(axis=1)
        inside = np.tril(_exceeded(traits[block], traits[block]), -1).sum(axis=1)
        kept = np.concatenate((kept, block[earlier + inside < limit]))
    return kept


def _exceeded(traits: Scores, others: Scores) -> Flags:
    exceeded = np.ones((len(traits), len(others)), np.bool_)
    for column, other in zip(traits.T, others.T, strict=True):
        exceeded &= other[None, :] >= column[:, None]
    return exceeded


def without_alpha(tuning: Tuning) -> Tuning:
    return replace(tuning, alpha=0.0)


def lines_key(ranking: Ranking) -> Hashable:
    """Return a value that is equal for rankings of one Evidence with the same `ScoreLines`.

    Alpha is left out, as is the threshold and number of entities, which only choose entities.
    """
    if not ranking.kept:
        return ranking.frecency_weight
    others = replace(ranking.tuning, alpha=0.0, entity_threshold=0.0, max_entities=1)
    return ranking.kept, others
