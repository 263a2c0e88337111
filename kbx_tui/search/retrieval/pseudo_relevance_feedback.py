"""Pseudo-relevance feedback: moves the query vector towards the documents that fit it best.

    q' = (q + w * m) / (1 + w)

with the weight w (`[search] feedback`, 0 = off) and the mean vector m of these documents. A cosine
with q' is the weighted mean of those with the query and with m. The documents are chosen from the
whole base, before any filter, so that a score depends on no filter, batch or pool. The vectors of a
few documents are read for it.

Source: Rocchio 1971, "Relevance Feedback in Information Retrieval"; for embeddings Li et al. 2021,
https://arxiv.org/abs/2108.11044.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.search.evidence.evidence import Rows, Scores, highest
from kbx_tui.search.evidence.score_normalization import (
    FEEDBACK_CANDIDATES,
    FEEDBACK_DOCUMENTS,
    fuse,
    scale_cosine,
    scale_lexical,
)


class FeedbackQuery:
    """The vectors of the variants of one query, each computed once.

    Only the query as typed is moved. Without names, it would also match documents of other people,
    and links already show which documents belong to an entity.
    """

    def __init__(
        self,
        query: str,
        raw_lexical: Scores,
        lexical_weight: float,
        embed: Callable[[str], Vector],
        vectors: VectorMatrix,
        weight: float,
    ) -> None:
        """Take BM25 of every document of the base (0: not eligible) and its weight in relevance."""
        self._query, self._raw_lexical, self._weight = query, raw_lexical, weight
        self._lexical_weight = lexical_weight
        self._embed, self._vectors = embed, vectors
        self._made: dict[str, Vector] = {}
        self.feedback_rows: list[int] = []
        """Rows of the documents the query was moved towards, best first; set by `vector`."""

    def vector(self, variant: str) -> Vector:
        """Return the vector of a query variant, of length 1 or slightly less."""
        if variant not in self._made:
            vector = self._embed(variant)
            if variant == self._query and self._weight:
                rows = best_documents(
                    vector, self._raw_lexical, self._lexical_weight, self._vectors
                )
                self.feedback_rows = rows.tolist()
                vector = moved_towards(vector, rows, self._vectors, self._weight)
            self._made[variant] = vector
        return self._made[variant]


def best_documents(
    query: Vector, raw_lexical: Scores, lexical_weight: float, vectors: VectorMatrix
) -> Rows:
    """Return the rows of the most relevant documents of the base, best first, at most 3.

    They hold a term of the query (`raw_lexical` above 0) and have a vector.
    """
    rows = highest(raw_lexical, np.flatnonzero(raw_lexical > 0.0), FEEDBACK_CANDIDATES)
    cosine = vectors.best_cosine_of(query, rows)
    rows, cosine = rows[~np.isnan(cosine)], cosine[~np.isnan(cosine)]
    relevance = fuse(scale_lexical(raw_lexical[rows]), scale_cosine(cosine), lexical_weight)
    return rows[np.argsort(-relevance, kind="stable")[:FEEDBACK_DOCUMENTS]]


def moved_towards(query: Vector, rows: Rows, vectors: VectorMatrix, weight: float) -> Vector:
    """Return `query` moved towards the mean of some documents; `query` itself if there are none."""
    if not len(rows):
        return query
    mean = vectors.mean_vectors(rows).mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-9)
    moved: Vector = (query + np.float32(weight) * mean) / np.float32(1 + weight)
    return moved
