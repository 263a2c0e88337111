"""A reranker: a cross-encoder by its name, loaded on first use, and its recent scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

from kbx_tui.errors import RerankerError
from kbx_tui.search.evidence.reranking import answer_probability
from kbx_tui.search.lru_cache import LruCache

KEPT = 2_000
"""Scores kept: those of a hundred queries."""
RETRY_SECONDS = 30.0
"""Seconds after which a model that could not be loaded is tried again."""


class PairScorer(Protocol):
    """What is needed of a cross-encoder. Thread-safe."""

    def score(self, query: str, text: str) -> float:
        """Return how well a text answers a query, unbounded. Raises RerankerError."""


class Reranker:
    """Scores passages for queries. Thread-safe.

    A score depends only on the model, the query and the passage. So what was scored once is not
    scored again, whatever was retrieved or ranked in between.
    """

    def __init__(self, name: str, open_model: Callable[[], PairScorer]) -> None:
        """`open_model` loads the model; it raises RerankerError."""
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
