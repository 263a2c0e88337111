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

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

import numpy as np

from kbx_tui.errors import RerankerError
from kbx_tui.search.evidence.scores import RERANKER_WEIGHT, Scores
from kbx_tui.search.lru_cache import LruCache

RERANKED = 20
RERANK_MS = "rerank_ms"


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


KEPT = 2_000
RETRY_SECONDS = 30.0
"""Seconds after which a model that could not be loaded is tried again."""


class PairScorer(Protocol):
    def score(self, query: str, text: str) -> float:
        """Return how well a text answers a query, unbounded. Raises RerankerError."""


class Reranker:
    """Scores passages for queries. Thread-safe.

    A score depends only on the model, the query and the passage. So what was scored once is not
    scored again, whatever was retrieved or ranked in between.
    """

    def __init__(self, name: str, open_model: Callable[[], PairScorer]) -> None:
        self.name = name
        self._open_model = open_model
        self._model: PairScorer | None = None
        self._failed: tuple[float, RerankerError] | None = None
        self._scores: LruCache[tuple[str, str], float] = LruCache(KEPT)
        self._loading, self._reading = Lock(), Lock()

    def scores(
        self, query: str, passages: Sequence[str], cancelled: Callable[[], bool] = lambda: False
    ) -> list[float] | None:
        """Return how well each passage answers the query, 0..1; None when `cancelled` between two.

        Raises RerankerError.
        """
        scores = []
        for passage in passages:
            with self._reading:
                score = self._scores.get((query, passage))
            if score is None:
                if cancelled():
                    return None
                score = answer_probability(self._loaded().score(query, passage))
                with self._reading:
                    self._scores.put((query, passage), score)
            scores.append(score)
        return scores

    def _loaded(self) -> PairScorer:
        with self._loading:  # two threads must not load it twice
            if self._model is None:
                if self._failed is not None and time.monotonic() - self._failed[0] < RETRY_SECONDS:
                    raise self._failed[1]
                try:
                    self._model = self._open_model()
                except RerankerError as error:
                    self._failed = time.monotonic(), error
                    raise
            return self._model
