"""What a reranker adds to the scores of the first results. Pure.

A reranker, a cross-encoder, reads the query and a passage together. Of the first 20 results of a
ranking it moves each score towards 1:

    final = 1 - (1 - score) * (1 - w * p)

with p, how well the passage answers the query, 0..1, and w = RERANKER_WEIGHT. So the reranker adds
`w * p * (1 - score)`, at least 0 and at most half of what is missing to 1. A score never falls, so
no document outside the first 20 can come to lie before one of them; it rises with p and with the
score, also in floating point, as each operation of the formula rounds monotonically. With an equal
p the order stays as it was.

Source of the combination: two independent chances that a document is relevant, a noisy-or, Pearl
1988, "Probabilistic Reasoning in Intelligent Systems", section 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kbx_tui.search.evidence.score_normalization import RERANKER_WEIGHT

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Scores

RERANKED = 20
"""How many results are reranked."""
RERANK_MS = "rerank_ms"
"""Name of the milliseconds of reranking in `Evidence.timings`."""


@dataclass(frozen=True, slots=True)
class RerankerScores:
    """The scores of one reranker for one query: those computed so far, or why there are none."""

    model: str
    """As it was named: a folder, or a name of fastembed."""
    scores: Mapping[int, float] = field(default_factory=dict)
    """How well a document answers the query, 0..1, by row of the Evidence."""
    failure: str = ""
    """One sentence on why documents have no score; else empty."""


def answer_probability(logit: float) -> float:
    """Return the output of a cross-encoder on 0..1: the logistic function, as it was trained."""
    return float(0.5 * (1.0 + np.tanh(0.5 * logit)))  # unlike 1 / (1 + exp(-x)), never overflows


def reranked(scores: Scores, probabilities: Scores) -> Scores:
    """Return the scores, 0..1, with what the reranker adds; shapes (n,)."""
    return np.maximum(scores, 1.0 - (1.0 - scores) * (1.0 - RERANKER_WEIGHT * probabilities))
