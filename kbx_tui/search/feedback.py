"""What a query means, drawn towards the documents that fit it best (pseudo-relevance feedback).

    q' = (q + w * m) / (1 + w)

with m the mean vector of those documents: how like q' something is, is the weighted mean of how
like it is to the query and to them. They are chosen among all documents of the base, before any
filter, so a score depends on no filter, batch or pool. A few documents' vectors are read for it.

Source: Rocchio 1971, "Relevance Feedback in Information Retrieval"; for vectors of a model Li et
al. 2021, https://arxiv.org/abs/2108.11044.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.vectors import Vectors
from kbx_tui.search.evidence import Rows, Scores
from kbx_tui.search.lexical import lexical_weight
from kbx_tui.search.scales import (
    FEEDBACK_AMONG,
    FEEDBACK_DOCUMENTS,
    FEEDBACK_WEIGHT,
    fuse,
    scale_cosine,
    scale_lexical,
)


def meanings(
    query: str, raw_lexical: Scores, vector_of: Callable[[str], Vector], vectors: Vectors
) -> Callable[[str], Vector]:
    """Return what gives the vector a wording of `query` is compared by; each is made but once.

    Only the query as typed is drawn to what fits it best. What is left when names are taken out
    fits documents of others as well, and whose they are the links know.
    """

    @cache
    def meaning(wording: str) -> Vector:
        asked = vector_of(wording)
        if wording != query:
            return asked
        return drawn_to_best(asked, raw_lexical, lexical_weight(wording), vectors)

    return meaning


def drawn_to_best(
    query: Vector, raw_lexical: Scores, words_weight: float, vectors: Vectors
) -> Vector:
    """Return the vector to compare documents with, of the length of `query` or a little shorter.

    `raw_lexical` is BM25 of every document of the base, 0 for those that must not be chosen, and
    `words_weight` the share it has in how well a document fits. The query itself comes back where
    no document with a vector holds a word of it.
    """
    rows = _highest(raw_lexical, FEEDBACK_AMONG)
    cosine = vectors.best_cosine_of(query, rows)
    rows, cosine = rows[~np.isnan(cosine)], cosine[~np.isnan(cosine)]
    if not len(rows):
        return query
    fit = fuse(scale_lexical(raw_lexical[rows]), scale_cosine(cosine), words_weight)
    best = rows[np.argsort(-fit, kind="stable")[:FEEDBACK_DOCUMENTS]]
    mean = vectors.wholes(best).mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-9)
    drawn: Vector = (query + np.float32(FEEDBACK_WEIGHT) * mean) / np.float32(1 + FEEDBACK_WEIGHT)
    return drawn


def _highest(scores: Scores, count: int) -> Rows:
    """Return the rows of the highest scores above 0, highest first, equals in order of rows."""
    rows = np.flatnonzero(scores > 0.0)
    if count < len(rows):
        floor = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= floor]
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]
