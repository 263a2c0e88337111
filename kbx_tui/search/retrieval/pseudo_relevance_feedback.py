"""What a query means, drawn towards the documents that fit it best (pseudo-relevance feedback).

    q' = (q + w * m) / (1 + w)

with w the weight (`[search] feedback`, 0 = off) and m the mean vector of those documents: how like
q' something is, is the weighted mean of how like it is to the query and to them. They are chosen
among all documents of the base, before any filter, so a score depends on no filter, batch or pool.
A few documents' vectors are read for it.

Source: Rocchio 1971, "Relevance Feedback in Information Retrieval"; for vectors of a model Li et
al. 2021, https://arxiv.org/abs/2108.11044.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.vectors.vector_matrix import Vectors
from kbx_tui.search.evidence.evidence import Rows, Scores
from kbx_tui.search.evidence.score_normalization import (
    FEEDBACK_AMONG,
    FEEDBACK_DOCUMENTS,
    fuse,
    scale_cosine,
    scale_lexical,
)


class Meanings:
    """The vectors that the wordings of one query are compared by; each is made but once.

    Only the query as typed is drawn to what fits it best. What is left when names are taken out
    fits documents of others as well, and whose they are the links know.
    """

    def __init__(
        self,
        query: str,
        raw_lexical: Scores,
        words_weight: float,
        vector_of: Callable[[str], Vector],
        vectors: Vectors,
        weight: float,
    ) -> None:
        """`raw_lexical` is BM25 of every document of the base, 0 for those not to be chosen, and
        `words_weight` the share that words have in how well a document fits.
        """
        self._query, self._raw_lexical, self._weight = query, raw_lexical, weight
        self._words_weight = words_weight
        self._vector_of, self._vectors = vector_of, vectors
        self._known: dict[str, Vector] = {}
        self.drawn_to: list[int] = []
        """Rows of the documents that drew the query, best first; none until it was asked for."""

    def of(self, wording: str) -> Vector:
        """Return the vector of `wording`, of length 1 or a little shorter."""
        known = self._known.get(wording)
        if known is None:
            known = self._known[wording] = self._make(wording)
        return known

    def _make(self, wording: str) -> Vector:
        asked = self._vector_of(wording)
        if wording != self._query or not self._weight:
            return asked
        best = best_fitting(asked, self._raw_lexical, self._words_weight, self._vectors)
        self.drawn_to = best.tolist()
        return drawn_to(asked, best, self._vectors, self._weight)


def best_fitting(query: Vector, raw_lexical: Scores, words_weight: float, vectors: Vectors) -> Rows:
    """Return the rows of the documents that fit `query` best, best first.

    They hold a word of it (`raw_lexical` above 0) and have a vector; `words_weight` is the share
    that words have in how well a document fits.
    """
    rows = _highest(raw_lexical, FEEDBACK_AMONG)
    cosine = vectors.best_cosine_of(query, rows)
    rows, cosine = rows[~np.isnan(cosine)], cosine[~np.isnan(cosine)]
    fit = fuse(scale_lexical(raw_lexical[rows]), scale_cosine(cosine), words_weight)
    return rows[np.argsort(-fit, kind="stable")[:FEEDBACK_DOCUMENTS]]


def drawn_to(query: Vector, rows: Rows, vectors: Vectors, weight: float) -> Vector:
    """Return `query` drawn to the mean of documents, itself where there are none."""
    if not len(rows):
        return query
    mean = vectors.wholes(rows).mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-9)
    drawn: Vector = (query + np.float32(weight) * mean) / np.float32(1 + weight)
    return drawn


def _highest(scores: Scores, count: int) -> Rows:
    """Return the rows of the highest scores above 0, highest first, equals in order of rows."""
    rows = np.flatnonzero(scores > 0.0)
    if count < len(rows):
        floor = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= floor]
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]
