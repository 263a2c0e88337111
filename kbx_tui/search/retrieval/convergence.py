"""Stopping rules of top-k retrieval: how many documents to evaluate until the top k is known. Pure.

Lexical scores, links and approximate cosines are known for every document, and with them an upper
bound of its final score. Documents are evaluated in batches by descending bound, until no remaining
bound exceeds the score of the k-th best.

Source: two-pass proposal, "Convergence"; the exact rule is that of the threshold algorithm of
Fagin, Lotem & Naor 2003, https://doi.org/10.1016/S0022-0000(03)00026-6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kbx_tui.search.evidence.scores import Flags, Rows, Scores, highest

Rule = Literal["exact", "stable"]
"""`exact` gives the top k of a full scan; `stable` may stop once the top k stays the same."""
StoppedBy = Literal["all", "exact", "stable"]
"""Why evaluation stopped: none were left, none could enter the top k, or it stayed the same."""

BATCH, STABLE_ROUNDS = 20, 3
"""Documents per batch, and batches without a change after which the top k is stable. Chosen by the
experiment "batch size of top-k retrieval" in docs/quality.md."""
WORTH_FROM = 1000
"""Documents in scope below which a full scan is as fast as sorting the bounds."""
WORTH_SHARE = 0.1
"""Share of the documents above which a full scan is faster than evaluating them in batches."""


@dataclass(frozen=True, slots=True)
class Converged:
    evaluated: Flags
    stopped_by: StoppedBy


def converge(
    bounds: Scores, final_for: Callable[[Rows], Scores], k: int, rule: Rule
) -> Converged | None:
    """Evaluate documents until the top `k` are known; None if a full scan would be faster.

    `bounds` holds an upper bound of every final score, shape (n,), -inf for a document that cannot
    be a result; `final_for` returns the final scores of rows. Under `exact` the top `k` equals that
    of a full scan: documents that tie with the last place are evaluated too.
    """
    finite = np.flatnonzero(np.isfinite(bounds))
    order = highest(bounds, finite, int(WORTH_SHARE * len(bounds)) + BATCH)
    evaluated = np.zeros(len(bounds), np.bool_)
    best_rows, best = np.empty(0, np.int64), np.empty(0)
    unchanged = 0
    for start in range(0, len(order), BATCH):
        if len(best) >= k and best[k - 1] > bounds[order[start]]:
            return Converged(evaluated, "exact")
        rows = order[start : start + BATCH]
        evaluated[rows] = True
        scores = np.concatenate((best, final_for(rows)))
        top = np.argsort(-scores, kind="stable")[: max(k, 1)]
        top_rows = np.concatenate((best_rows, rows))[top]
        unchanged = unchanged + 1 if np.array_equal(top_rows, best_rows) else 0
        best_rows, best = top_rows, scores[top]
        if rule == "stable" and unchanged >= STABLE_ROUNDS:
            return Converged(evaluated, "stable")
    return None if len(finite) > len(order) else Converged(evaluated, "all")
