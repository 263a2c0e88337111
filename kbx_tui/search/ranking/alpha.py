"""Where the order of results changes as alpha moves: the swap points. Pure.

The final score of a document is linear in alpha. So two documents swap places at one alpha at most,
and a swap point is an alpha at which two lines cross with fewer than `limit` documents above them.
Only the ends of the scale, 0 and 1, are special: many documents tie there, and a document that
scores 0, openings aside, is not a result. So an end is a swap point if the order at it differs from
the order just inside.

A reranker breaks this: at any alpha another document may be among the first 20 and be reranked, or
may not have been scored yet. So nothing is said of a ranking that it changes.
"""

from __future__ import annotations

import numpy as np

from kbx_tui.search.evidence.evidence import Scores
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.ranking.score_lines import NO_ROW, ScoreLines

SAME_ALPHA = 1e-12
"""Crossings closer than this are one: floating-point scores do not distinguish them."""
SAME_SCORE = 1e-15
PAIRS_AT_ONCE = 4096


def swap_points(ranking: Ranking, limit: int) -> tuple[float, ...]:
    """Return all alphas, ascending, at which the order of the top `limit` changes.

    Between two neighbouring ones no order changes. 0 and 1 are among them if the order at that end
    differs from the order beside it. Empty for a flat or reranked ranking.
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
    """Return the swap points of the top `limit` next to the current alpha, below and above.

    The current order holds between these two and changes just beyond each. Where two documents tie
    now, one of the alphas may be the current one. None where nothing changes down to 0 or up to 1.
    """
    alpha, points = ranking.tuning.alpha, swap_points(ranking, limit)
    close = [point for point in points if _is_at(point, alpha)]
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


def _is_at(point: float, alpha: float) -> bool:
    """Return whether a swap point is the current alpha. The ends of the scale are exact."""
    return point == alpha or (0.0 < point < 1.0 and abs(point - alpha) <= SAME_ALPHA)


def alpha_note(ranking: Ranking, limit: int) -> str:
    """Return why no alpha changes the order of the top `limit`; empty if some alpha does."""
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

    If those just inside are equal, the order is the same in between: two documents that are in the
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
    """Return the scores towards alpha 0 and 1; infinite for known items: nothing overtakes them."""
    start, end = (lines.factor * scores + lines.opened for scores in (lines.parent, lines.answered))
    start[lines.is_known_item] = end[lines.is_known_item] = np.inf
    return start, end


def _crossings(lines: ScoreLines, limit: int) -> list[float]:
    """Return where two lines cross between 0 and 1 with fewer than `limit` above, ascending."""
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
