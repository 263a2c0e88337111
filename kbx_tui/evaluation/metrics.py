"""Measures of one ranked list against judgments. Pure.

Written here and not taken from a library: ir-measures and ranx, the well-kept ones, have no wheels
for Linux on ARM or bring numba, pandas and matplotlib, and a measure must not decide where the
program can be installed. `tests/unit/evaluation/test_metrics.py` holds these to ir-measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from kbx_tui.evaluation.judgments import Grades

CUTOFF = 10


def ndcg(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return nDCG@k with gain `2^grade - 1` and discount `log2(rank + 1)`, 0..1.

    Source: Burges et al. 2005, https://doi.org/10.1145/1102351.1102363. 0 when nothing is relevant.
    """
    ideal = _dcg(sorted(grades.values(), reverse=True)[:k])
    return _dcg([grades.get(path, 0) for path in ranked[:k]]) / ideal if ideal else 0.0


def recall(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return the share of the relevant documents that are among the first k."""
    relevant = {path for path, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades) -> float:
    """Return 1 / rank of the first relevant document, 0 when there is none."""
    for rank, path in enumerate(ranked, 1):
        if grades.get(path, 0) > 0:
            return 1.0 / rank
    return 0.0


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1.0) / log2(rank + 1) for rank, grade in enumerate(grades, 1))
