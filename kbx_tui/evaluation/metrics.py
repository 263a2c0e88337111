"""Retrieval metrics of a ranked list, and the certainty of their means and differences. Pure.

`grades` are those of one query by path; a path without a grade was not judged and counts as not
relevant unless stated otherwise. A document is relevant from grade 1. Samples are drawn with a
fixed seed.

The maintained libraries, ir-measures and ranx, lack wheels for Linux on ARM or depend on numba,
pandas and matplotlib, which would restrict where the program can be installed.
`tests/unit/evaluation/test_metrics.py` compares these functions with ir-measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, log2
from statistics import NormalDist, fmean, stdev

import numpy as np
from numpy.typing import NDArray

from kbx_tui.evaluation.judgments import MAX_GRADE, Grades

CUTOFF = 10
PRECISION_CUTOFF = 5
PERSISTENCE = 0.8
"""The middle one of .5, .8 and .95, the values that the authors of RBP compare."""


def ndcg(ranked: Sequence[str], grades: Grades) -> float:
    """Return nDCG@10 with gain `2^grade - 1` and discount `log2(rank + 1)`, 0..1.

    Source: Burges et al. 2005, https://doi.org/10.1145/1102351.1102363. 0 when nothing is relevant.
    """
    return _normalized_dcg(ranked, grades, _exponential)


def ndcg_linear(ranked: Sequence[str], grades: Grades) -> float:
    """Return nDCG@10 as `ndcg` does, with the grade as gain, as in trec_eval.

    Source: Järvelin & Kekäläinen 2002, https://doi.org/10.1145/582415.582418.
    """
    return _normalized_dcg(ranked, grades, float)


def ideal_gain(grades: Grades) -> float:
    """Return the discounted gain of the best possible top 10; 0 if nothing is relevant."""
    return _dcg(map(_exponential, sorted(grades.values(), reverse=True)[:CUTOFF]))


def recall(ranked: Sequence[str], grades: Grades) -> float:
    """Return recall@10: the share of the relevant documents among the first 10, 0..1."""
    relevant = {path for path, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:CUTOFF])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades) -> float:
    """Return 1 / rank of the first relevant document, 0 if there is none."""
    ranks = (rank for rank, path in enumerate(ranked, 1) if grades.get(path, 0) > 0)
    return next((1.0 / rank for rank in ranks), 0.0)


def average_precision(ranked: Sequence[str], grades: Grades) -> float:
    """Return average precision: the mean over the relevant documents of precision at their rank."""
    relevant = sum(grade > 0 for grade in grades.values())
    found, total = 0, 0.0
    for rank, path in enumerate(ranked, 1):
        if grades.get(path, 0) > 0:
            found += 1
            total += found / rank
    return total / relevant if relevant else 0.0


def precision(ranked: Sequence[str], grades: Grades) -> float:
    """Return precision@5: the number of relevant documents in the first 5, divided by 5, 0..1."""
    first = ranked[:PRECISION_CUTOFF]
    return sum(grades.get(path, 0) > 0 for path in first) / PRECISION_CUTOFF


def expected_reciprocal_rank(
    ranked: Sequence[str], grades: Grades, *, max_grade: int = MAX_GRADE
) -> float:
    """Return ERR@10, 0..1: the expected 1 / rank at which a user reading downwards is satisfied.

    A document of grade g satisfies with probability `(2^g - 1) / 2^max_grade`. Source: Chapelle,
    Metzler, Zhang & Grinspan 2009, https://doi.org/10.1145/1645953.1646033.
    """
    expected, unsatisfied = 0.0, 1.0
    for rank, path in enumerate(ranked[:CUTOFF], 1):
        satisfied = (2.0 ** grades.get(path, 0) - 1.0) / 2.0**max_grade
        expected += unsatisfied * satisfied / rank
        unsatisfied *= 1.0 - satisfied
    return expected


def rank_biased_precision(
    ranked: Sequence[str], grades: Grades, p: float = PERSISTENCE
) -> tuple[float, float]:
    """Return RBP of the relevant documents and its residual, both 0..1.

    A user who reads downwards continues to the next rank with probability `p`. The residual is the
    weight of all ranks without a judgment, including those below the list: judging them all could
    raise RBP by at most that. Source: Moffat & Zobel 2008, https://doi.org/10.1145/1416950.1416952.
    """
    base, residual, weight = 0.0, 0.0, 1.0 - p
    for path in ranked:
        grade = grades.get(path)
        if grade is None:
            residual += weight
        elif grade > 0:
            base += weight
        weight *= p
    return base, residual + p ** len(ranked)


def judged_share(ranked: Sequence[str], grades: Grades) -> float:
    """Return judged@10: the share of the first 10 results with a grade; 0 without results."""
    top = ranked[:CUTOFF]
    return sum(path in grades for path in top) / len(top) if top else 0.0


def _normalized_dcg(ranked: Sequence[str], grades: Grades, gain: Callable[[int], float]) -> float:
    ideal = _dcg(map(gain, sorted(grades.values(), reverse=True)[:CUTOFF]))
    found = _dcg(gain(grades.get(path, 0)) for path in ranked[:CUTOFF])
    return found / ideal if ideal else 0.0


def _exponential(grade: int) -> float:
    return 2.0**grade - 1.0


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


PERMUTATIONS = 10_000
EXACT_UP_TO = 12
RESAMPLES = 10_000
BAND_RESAMPLES = 1_000
BATCH = 500
SEED = 20
CONFIDENCE = 0.95
SIGNIFICANCE, POWER = 0.05, 0.8
"""Significance level and power that `queries_needed` plans for: the usual values."""
NOTICEABLE = 0.02
EQUAL = 1e-12
"""Differences of a measure up to this are rounding errors."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    queries: int
    mean: float
    interval: Interval | None
    """95 % interval of the mean; None for fewer than two queries."""
    p: float
    wins: int
    ties: int
    losses: int
    more_queries: int | None
    """How many more such queries would show a difference of `NOTICEABLE`; 0 if these suffice, None
    if that cannot be estimated (see `queries_needed`)."""


def paired_difference(before: Sequence[float], after: Sequence[float]) -> PairedDifference:
    """Compare two settings query by query.

    Raises ValueError if the lengths differ or there is no query.
    """
    p = randomisation_p(before, after)
    changes = [new - old for old, new in zip(before, after, strict=True)]
    if not changes:
        raise ValueError("there is no query to compare")
    wins = sum(change > EQUAL for change in changes)
    losses = sum(change < -EQUAL for change in changes)
    needed = queries_needed(changes)
    return PairedDifference(
        queries=len(changes),
        mean=fmean(changes),
        interval=bootstrap_interval(changes),
        p=p,
        wins=wins,
        ties=len(changes) - wins - losses,
        losses=losses,
        more_queries=None if needed is None else max(needed - len(changes), 0),
    )


def bootstrap_interval(values: Sequence[float]) -> Interval | None:
    """Return the 95 % percentile bootstrap interval of the mean; None for fewer than two values.

    It is too narrow for few values: with 10, it contains the true mean in about 9 of 10 cases.
    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 13.3.
    """
    if len(values) < 2:
        return None
    sample, generator = np.asarray(values, float), np.random.default_rng(SEED)
    means = np.concatenate(
        [
            sample[generator.integers(len(sample), size=(BATCH, len(sample)))].mean(axis=1)
            for _ in range(RESAMPLES // BATCH)
        ]
    )
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(means, (tail, 1.0 - tail))
    return float(low), float(high)


def bootstrap_band(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the 95 % percentile bootstrap intervals of the means of many settings.

    `values` has shape (settings, queries), with at least one query; the result has shape
    (settings, 2). Like `bootstrap_interval`, with fewer resamples, shared by all settings; precise
    enough for plots.
    """
    weights = _resample_weights(values.shape[1])
    tail = (1.0 - CONFIDENCE) / 2.0
    return np.quantile(values @ weights, (tail, 1.0 - tail), axis=1).T


@lru_cache(maxsize=4)
def _resample_weights(size: int) -> NDArray[np.float64]:
    drawn = np.random.default_rng(SEED).integers(size, size=(BAND_RESAMPLES, size))
    drawn += np.arange(BAND_RESAMPLES)[:, None] * size
    counts = np.bincount(drawn.ravel(), minlength=BAND_RESAMPLES * size)
    return counts.reshape(BAND_RESAMPLES, size).T / size


def randomisation_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired randomisation test on the mean difference.

    Under the null hypothesis, the two values of each query are interchangeable: p is the share of
    swaps whose mean difference is at least as large as the observed one. Deterministic.
    Raises ValueError when the lengths differ.
    Source: Smucker, Allan & Carterette 2007, https://doi.org/10.1145/1321440.1321528.
    """
    if len(before) != len(after):
        raise ValueError(f"runs have {len(before)} and {len(after)} queries")
    differences = np.asarray(after, float) - np.asarray(before, float)
    differences = differences[np.abs(differences) > EQUAL]  # swapping equal values changes nothing
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


def sign_test_p(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the exact sign test; ties are left out.

    It is the probability that a fair coin splits at least as unevenly as `wins` to `losses`; 1
    without either. Source: Conover 1999, Practical Nonparametric Statistics, section 3.4.
    """
    total, most = wins + losses, max(wins, losses)
    tail = sum(comb(total, heads) for heads in range(most, total + 1))
    return min(1.0, 2.0 * tail / 2.0**total)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted for multiple comparisons, in the same order.

    Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = highest
    return tuple(adjusted)


def queries_needed(differences: Sequence[float], noticeable: float = NOTICEABLE) -> int | None:
    """Return how many queries a paired test needs to find a mean difference of `noticeable`.

    It assumes 80 % power at the 5 % level and queries whose differences vary as much as these. None
    for fewer than two queries or if none differs: then the variance is unknown. Source: Guenther
    1981, https://doi.org/10.2307/2683297 (the normal approximation, corrected for t).
    """
    if len(differences) < 2 or all(abs(difference) <= EQUAL for difference in differences):
        return None
    normal = NormalDist()
    level, power = normal.inv_cdf(1.0 - SIGNIFICANCE / 2.0), normal.inv_cdf(POWER)
    effect = noticeable / stdev(differences) if stdev(differences) else float("inf")
    return max(2, ceil(((level + power) / effect) ** 2 + level**2 / 2.0))
