"""Where the order of results changes as alpha moves. Pure.

The final score of a document is linear in alpha. So two documents swap places at one alpha at most,
and those in the same order at both ends of an interval are in that order throughout. Only the ends
of the scale, 0 and 1, are special: many documents tie there, and a document that scores 0, openings
aside, is not a result.

A reranker breaks this: at any alpha another document may be among the first 20 and be reranked, or
may not have been scored yet. So nothing is said of a ranking that it changes.
"""

from __future__ import annotations

import numpy as np

from kbx_tui.search.evidence.evidence import Rows
from kbx_tui.search.ranking.rank import Ranking


def next_changes(ranking: Ranking, limit: int) -> tuple[float | None, float | None]:
    """Return the nearest alphas below and above at which the order of the top `limit` changes.

    The current order holds between these two and changes just beyond each. Where two documents tie
    now, one of the alphas may be the current one. None where nothing changes down to 0 or up to 1;
    both None for a flat or reranked ranking.
    """
    if ranking.search_mode == "flat" or ranking.is_reranked:
        return None, None
    return _first_change(ranking, limit, 0.0), _first_change(ranking, limit, 1.0)


def alpha_note(ranking: Ranking, limit: int) -> str:
    """Return why no alpha changes the order of the top `limit`; empty if some alpha may do so."""
    if ranking.search_mode == "flat":
        kind = "fast" if ranking.evidence.fast else "flat"
        return f"alpha has no effect on a {kind} search"
    if ranking.is_reranked or next_changes(ranking, limit) != (None, None):
        return ""
    parents = ranking.parent_entity_score[ranking.included]
    if not len(parents) or np.ptp(parents) == 0.0:
        return "alpha has no effect: all results are linked equally"
    return "alpha has no effect: document and entity agree on the order"


def _first_change(ranking: Ranking, limit: int, end: float) -> float | None:
    """Return the first alpha between the current one and `end` at which the order changes.

    It suffices to compare neighbours in the order, and the last of the top with every other
    document: the first document to be overtaken is overtaken by a neighbour.
    """
    alpha = ranking.tuning.alpha
    if alpha == end:
        return None
    at_end = ranking.at(end)
    best = ranking.best(limit)
    rest = ranking.included | at_end.included  # the results anywhere in between
    rest[best] = False
    known_items = list(ranking.evidence.known_items)
    rest[known_items] = False  # these stay first under any alpha
    others = np.flatnonzero(rest)
    if len(best) < limit and len(others):
        return alpha  # the others are results everywhere but at this end of the scale
    entering = others[~ranking.included[others]]
    if (ranking.final[entering] > ranking.final[best[-1:]]).any():
        return alpha  # openings alone put them before the last of the top
    moving = best[~np.isin(best, known_items)]
    upper, lower = moving[:-1], moving[1:]
    if len(moving):
        upper = np.concatenate((upper, np.full(len(others), moving[-1])))
        lower = np.concatenate((lower, others))
    leads = ranking.final[upper] - ranking.final[lower], at_end.final[upper] - at_end.final[lower]
    overtaken = leads[1] < 0.0
    if overtaken.any():
        lead, lead_at_end = np.maximum(leads[0][overtaken], 0.0), leads[1][overtaken]
        return alpha + (end - alpha) * float((lead / (lead - lead_at_end)).min())
    dropped = not at_end.included[moving].all()
    tied = (leads[1] == 0.0) & at_end.included[lower]
    return end if dropped or _any_first(ranking, lower[tied], upper[tied]) else None


def _any_first(ranking: Ranking, rows: Rows, others: Rows) -> bool:
    """Return whether any of `rows` ranks before the one of `others` that it ties with."""
    relevance, dates = ranking.doc_relevance, ranking.evidence.dates
    difference = relevance[rows] - relevance[others]
    if (difference > 0.0).any():
        return True
    equal = difference == 0.0
    return any(
        (dates[row], other) > (dates[other], row)
        for row, other in zip(rows[equal].tolist(), others[equal].tolist(), strict=True)
    )
