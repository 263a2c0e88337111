"""What moving alpha would change. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kbx_tui.search.ranking import Ranking, rank


def alpha_note(ranking: Ranking, limit: int) -> str:
    """Return why no alpha changes the order of the best `limit` results; empty when some does.

    Scores are linear in alpha: two documents in the same order at both ends are in that order
    everywhere between.
    """
    if ranking.search_mode == "flat":
        return "alpha has no effect on a flat search"
    evidence, tuning = ranking.evidence, ranking.tuning
    ends = [rank(evidence, replace(tuning, alpha=alpha)) for alpha in (0.0, 1.0)]
    orders = [[ranked.row for ranked in end.top(limit)] for end in ends]
    if orders[0] != orders[1] or not np.array_equal(ends[0].included, ends[1].included):
        return ""
    parents = ranking.parent_entity_score[ranking.included]
    if np.ptp(parents) == 0.0:
        return "alpha has no effect: all results are linked equally"
    return "alpha has no effect: document and entity agree on the order"
