"""Retrieval metrics of a ranked list. Pure.

`grades` are those of one query by path; a path that is not in it was not judged, which counts as
not relevant, except where it is said otherwise. A document is relevant from grade 1 on.

The maintained libraries, ir-measures and ranx, have no wheels for Linux on ARM or depend on numba,
pandas and matplotlib, which would restrict where the program can be installed.
`tests/unit/evaluation/test_metrics.py` compares these functions with ir-measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log2

from kbx_tui.evaluation.judgments import MAX_GRADE, Grades

CUTOFF = 10
PRECISION_CUTOFF = 5
PERSISTENCE = 0.8
"""Persistence of the reader that RBP assumes: the middle of .5, .8 and .95, which its authors
compare."""


def ndcg(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return nDCG@k with gain `2^grade - 1` and discount `log2(rank + 1)`, 0..1.

    Source: Burges et al. 2005, https://doi.org/10.1145/1102351.1102363. 0 when nothing is relevant.
    """
    return _normalized_dcg(ranked, grades, k, _exponential)


def ndcg_linear(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return nDCG@k as `ndcg` does, with the grade as gain, as in trec_eval.

    Source: Järvelin & Kekäläinen 2002, https://doi.org/10.1145/582415.582418.
    """
    return _normalized_dcg(ranked, grades, k, float)


def ideal_gain(grades: Grades, k: int = CUTOFF) -> float:
    """Return the discounted gain of the best possible first k, 0 when nothing is relevant."""
    return _dcg(map(_exponential, sorted(grades.values(), reverse=True)[:k]))


def recall(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return recall@k: the share of the relevant documents among the first k, 0..1."""
    relevant = {path for path, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant) if relevant else 0.0


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


def precision(ranked: Sequence[str], grades: Grades, k: int = PRECISION_CUTOFF) -> float:
    """Return precision@k: the relevant documents among the first k, divided by k, 0..1."""
    return sum(grades.get(path, 0) > 0 for path in ranked[:k]) / k


def expected_reciprocal_rank(
    ranked: Sequence[str], grades: Grades, k: int = CUTOFF, *, max_grade: int = MAX_GRADE
) -> float:
    """Return ERR@k, 0..1: the mean of 1 / rank at which a user who reads downwards is satisfied.

    A document of grade g satisfies with probability `(2^g - 1) / 2^max_grade`. Source: Chapelle,
    Metzler, Zhang & Grinspan 2009, https://doi.org/10.1145/1645953.1646033.
    """
    expected, unsatisfied = 0.0, 1.0
    for rank, path in enumerate(ranked[:k], 1):
        satisfied = (2.0 ** grades.get(path, 0) - 1.0) / 2.0**max_grade
        expected += unsatisfied * satisfied / rank
        unsatisfied *= 1.0 - satisfied
    return expected


def rank_biased_precision(
    ranked: Sequence[str], grades: Grades, p: float = PERSISTENCE
) -> tuple[float, float]:
    """Return RBP of the relevant documents and its residual, both 0..1.

    A user who reads downwards goes to the next rank with probability `p`. The residual is the
    weight of all ranks without a judgment, those below the list included: judging all of them
    could raise RBP by no more. Source: Moffat & Zobel 2008, https://doi.org/10.1145/1416950.1416952.
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


def judged_share(ranked: Sequence[str], grades: Grades, k: int = CUTOFF) -> float:
    """Return judged@k: the share of the first k, or of fewer results, with a grade; 0 of none."""
    top = ranked[:k]
    return sum(path in grades for path in top) / len(top) if top else 0.0


def _normalized_dcg(
    ranked: Sequence[str], grades: Grades, k: int, gain: Callable[[int], float]
) -> float:
    ideal = _dcg(map(gain, sorted(grades.values(), reverse=True)[:k]))
    return _dcg(gain(grades.get(path, 0)) for path in ranked[:k]) / ideal if ideal else 0.0


def _exponential(grade: int) -> float:
    return 2.0**grade - 1.0


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
