"""Document relevance for each variant of a query, from BM25 and cosine. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kbx_tui.search.evidence.continuations import ScoredDocuments
from kbx_tui.search.evidence.evidence import ComponentScores, Flags, Rows, Scores, frozen
from kbx_tui.search.evidence.score_normalization import (
    above_floor,
    fuse,
    scale_cosine,
    scale_lexical,
)


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """Lexical scores of one variant of a query: as typed, or without the names in it."""

    raw_lexical: Scores
    """BM25, one per scored document."""
    lexical_weight: float
    """Weight of the lexical score in the relevance, 0..1."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores the documents in scope, including what adjacent parts propagate to them.

    Cosines and BM25 have shape (m,) over the scored documents, results shape (n,) over those in
    scope.
    """

    documents: ScoredDocuments
    variants: Mapping[str, QueryVariant]
    propagation_share: float
    """Share of a score difference that propagates to an adjacent part, 0..1."""

    def components(self, query: str, cosine: Scores | None) -> ComponentScores:
        """Return all scores for one query variant.

        `cosine` is NaN where there is no vector, and None if there is none at all.
        """
        variant, in_scope = self.variants[query], self.documents.values_in_scope
        if cosine is None:
            lexical, vector = scale_lexical(variant.raw_lexical), np.zeros(len(self.documents.rows))
            cosine, own = np.full(len(vector), np.nan), variant.lexical_weight * lexical
        else:
            lexical, vector = _scaled(variant.raw_lexical, cosine)
            own = fuse(lexical, vector, variant.lexical_weight)
        relevance, propagated_from = self.documents.propagate(own, self.propagation_share)
        return ComponentScores(
            query=query,
            raw_lexical=frozen(in_scope(variant.raw_lexical)),
            lexical=frozen(in_scope(lexical)),
            cosine=frozen(in_scope(cosine).copy()),
            vector=frozen(in_scope(vector)),
            own_relevance=frozen(in_scope(own)),
            doc_relevance=frozen(relevance),
            propagated_from=frozen(propagated_from),
            lexical_weight=variant.lexical_weight,
        )

    def is_relevant(self, query: str, cosine: Scores) -> Flags:
        """Return which documents in scope would have a `doc_relevance` above 0.

        Parts propagate nothing to a document without any, and both scores have some weight. No
        BM25 is so low that it becomes 0 on the scale of 0..1.
        """
        raw_lexical = self.variants[query].raw_lexical
        vector = above_floor(scale_cosine(cosine), raw_lexical)
        return self.documents.values_in_scope((raw_lexical > 0.0) | (vector > 0.0))

    def relevance(self, query: str, cosine: Scores, rows: Rows) -> Scores:
        """Return `doc_relevance` of a few rows in scope, from the cosines of these rows alone."""
        variant, positions = self.variants[query], self.documents.positions_for(rows)
        scaled = _scaled(variant.raw_lexical[positions], cosine[positions])
        own = np.zeros(len(self.documents.rows))
        own[positions] = fuse(*scaled, variant.lexical_weight)
        relevance, _ = self.documents.propagate(own, self.propagation_share)
        return relevance[rows]


def _scaled(raw_lexical: Scores, cosine: Scores) -> tuple[Scores, Scores]:
    return scale_lexical(raw_lexical), above_floor(scale_cosine(cosine), raw_lexical)
