"""What moving alpha would change, and where. Pure.

The score of a document is a straight line over alpha. So two documents change places at one alpha
at most, and those that are in one order at both ends of a stretch are in it all the way between.
Only the ends themselves, 0 and 1, hold surprises: many documents tie there, and what scores 0 is
no result at all.
"""

from __future__ import annotations

import numpy as np

from kbx_tui.search.evidence.evidence import Rows, Scores
from kbx_tui.search.ranking.rank import Ranking


def next_changes(ranking: Ranking, limit: int) -> tuple[float | None, float | None]:
    """Return the nearest alphas below and above at which the order of the best `limit` changes.

    Between these two the order is the present one, just beyond each it is another. Where two
    documents tie now, one of the two may be the present alpha. None where nothing changes all the
    way to 0 or 1; both None when the search is flat.
    """
    if ranking.search_mode == "flat":
        return None, None
    return _first_change(ranking, limit, 0.0), _first_change(ranking, limit, 1.0)


def alpha_note(ranking: Ranking, limit: int) -> str:
    """Return why no alpha changes the order of the best `limit` results; empty when some does."""
    if ranking.search_mode == "flat":
        return "alpha has no effect on a flat search"
    if next_changes(ranking, limit) != (None, None):
        return ""
    parents = ranking.parent_entity_score[ranking.included]
    if not len(parents) or np.ptp(parents) == 0.0:
        return "alpha has no effect: all results are linked equally"
    return "alpha has no effect: document and entity agree on the order"


def _first_change(ranking: Ranking, limit: int, end: float) -> float | None:
    """Return where the order of the best changes first on the way from the present alpha to `end`.

    It is enough to look at neighbours in the order, and at the last of the best against all that
    is not among them: whoever passes anyone passes a neighbour first.
    """
    alpha = ranking.tuning.alpha
    if alpha == end:
        return None
    at_end = ranking.at(end)
    best = ranking.best(limit)
    rest = ranking.included | at_end.included  # who scores anywhere on the way
    rest[best] = False
    rest[list(ranking.evidence.exact)] = False  # these stay first, whatever alpha is
    others = np.flatnonzero(rest)
    if len(best) < limit and len(others):
        return alpha  # they score 0 at this end of the scale and nowhere else
    moving = best[~np.isin(best, list(ranking.evidence.exact))]
    upper, lower = moving[:-1], moving[1:]
    if len(moving):
        upper = np.concatenate((upper, np.full(len(others), moving[-1])))
        lower = np.concatenate((lower, others))
    leads = ranking.final[upper] - ranking.final[lower], at_end.final[upper] - at_end.final[lower]
    passed = leads[1] < 0.0
    if passed.any():
        return alpha + (end - alpha) * _nearest(leads[0][passed], leads[1][passed])
    dropped = not at_end.included[moving].all()
    tied = (leads[1] == 0.0) & at_end.included[lower]
    return end if dropped or _any_first(ranking, lower[tied], upper[tied]) else None


def _nearest(lead: Scores, lead_at_end: Scores) -> float:
    """Return the share of the way, 0..1, after which the first of some leads is lost."""
    lead = np.maximum(lead, 0.0)
    return float((lead / (lead - lead_at_end)).min())


def _any_first(ranking: Ranking, rows: Rows, others: Rows) -> bool:
    """Tell whether any of `rows` comes before the one of `others` that it ties with."""
    relevance, dates = ranking.doc_relevance, ranking.evidence.dates
    more = relevance[rows] - relevance[others]
    if (more > 0.0).any():
        return True
    even = more == 0.0
    return any(
        (dates[row], other) > (dates[other], row)
        for row, other in zip(rows[even].tolist(), others[even].tolist(), strict=True)
    )
