"""The best documents of one Evidence under many tunings at once. Pure.

What `rank(evidence, tuning).best(limit)` returns for each, but all tunings that differ in alpha
alone are one array operation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.ranking.score_lines import NO_ROW, ScoreLines


def best_of_each(evidence: Evidence, tunings: Sequence[Tuning], limit: int) -> NDArray[np.int64]:
    """Return the rows of the best `limit` documents under each tuning, best first.

    Shape (len(tunings), limit), NO_ROW where there are fewer results. Raises OutOfRange for
    evidence that was retrieved for another tuning only.
    """
    best = np.full((len(tunings), limit), NO_ROW)
    if evidence.reranker is not None:  # what it raises depends on alpha, not linearly
        for number, tuning in enumerate(tunings):
            rows = rank(evidence, tuning).best(limit)
            best[number, : len(rows)] = rows
        return best
    numbers: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number, tuning in enumerate(tunings):
        numbers[without_alpha(tuning)].append(number)
    lines: dict[Hashable, ScoreLines] = {}
    for group in numbers.values():
        ranking = rank(evidence, tunings[group[0]])
        key = lines_key(ranking)
        if key not in lines:
            lines[key] = ScoreLines.of(ranking, limit)
        alphas = np.array([tunings[number].alpha for number in group])
        best[group] = lines[key].best(alphas, limit)
    return best


def without_alpha(tuning: Tuning) -> Tuning:
    """Return the tuning with alpha 0: equal for tunings that differ in alpha alone."""
    return replace(tuning, alpha=0.0)


def lines_key(ranking: Ranking) -> Hashable:
    """Return a value that is equal for rankings of one Evidence with the same `ScoreLines`.

    Alpha moves along the lines, and the threshold and the number of entities only choose entities.
    """
    if not ranking.kept:
        return ranking.frecency_weight
    others = replace(ranking.tuning, alpha=0.0, entity_threshold=0.0, max_entities=1)
    return ranking.kept, others
