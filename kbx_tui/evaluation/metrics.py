"""Retrieval metrics of a ranked list, and the significance of their differences. Pure.

The maintained libraries, ir-measures and ranx, have no wheels for Linux on ARM or depend on numba,
pandas and matplotlib, which would restrict where the program can be installed.
`tests/unit/evaluation/test_metrics.py` compares these functions with ir-measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import numpy as np

from kbx_tui.evaluation.judgments import Grades

CUTOFF = 10
PERMUTATIONS = 10_000
EXACT_UP_TO = 12
"""Largest number of queries for which all sign assignments are tried."""
BATCH = 500
SEED = 20


def ndcg(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return nDCG@k with gain `2^grade - 1` and discount `log2(rank + 1)`, 0..1.

    Source: Burges et al. 2005, https://doi.org/10.1145/1102351.1102363. 0 when nothing is relevant.
    """
    ideal = _dcg(sorted(grades.values(), reverse=True)[:k])
    return _dcg([grades.get(path, 0) for path in ranked[:k]]) / ideal if ideal else 0.0


def recall(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return recall@k: the share of the relevant documents among the first k, 0..1."""
    relevant = {path for path, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades) -> float:
    """Return 1 / rank of the first relevant document, 0 if there is none."""
    ranks = (rank for rank, path in enumerate(ranked, 1) if grades.get(path, 0) > 0)
    return next((1.0 / rank for rank in ranks), 0.0)


def randomisation_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired randomisation test on the mean difference.

    Under the null hypothesis the two values of each query are interchangeable: p is the share of
    such swaps with a mean difference at least as large as the observed one. Deterministic.
    Raises ValueError when the lengths differ.
    Source: Smucker, Allan & Carterette 2007, https://doi.org/10.1145/1321440.1321528.
    """
    if len(before) != len(after):
        raise ValueError(f"runs have {len(before)} and {len(after)} queries")
    differences = np.asarray(after, float) - np.asarray(before, float)
    differences = differences[differences != 0.0]  # swapping equal values changes nothing
    if not len(differences):
        return 1.0
    observed = abs(differences.sum()) - 1e-12
    if len(differences) <= EXACT_UP_TO:
        bits = np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1
        return float(np.mean(np.abs((1.0 - 2.0 * bits) @ differences) >= observed))
    generator, extreme = np.random.default_rng(SEED), 0
    for _ in range(PERMUTATIONS // BATCH):
        signs = generator.choice((-1.0, 1.0), size=(BATCH, len(differences)))
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= observed))
    return (extreme + 1) / (PERMUTATIONS + 1)  # the observed assignment counts too


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1.0) / log2(rank + 1) for rank, grade in enumerate(grades, 1))
