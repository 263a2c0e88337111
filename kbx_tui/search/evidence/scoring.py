"""How well documents fit the wordings of one query: from BM25 and cosine to relevance. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kbx_tui.search.evidence.continuations import Reach
from kbx_tui.search.evidence.evidence import ComponentScores, Rows, Scores, frozen
from kbx_tui.search.evidence.score_normalization import (
    above_floor,
    fuse,
    scale_cosine,
    scale_lexical,
)


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a query, and what its words say."""

    raw_lexical: Scores
    """BM25 of the documents in reach."""
    lexical_weight: float
    """Share of words in the relevance, 0..1."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores the documents in scope, with what parts beside them lend.

    Cosines have a place per document in reach, scores one per document in scope.
    """

    reach: Reach
    wordings: Mapping[str, Wording]
    part_share: float
    """How much parts lend, 0..1."""

    def components(self, query: str, cosine: Scores) -> ComponentScores:
        """Return all scores for one wording; `cosine` is NaN where there is no vector."""
        wording, in_scope = self.wordings[query], self.reach.scores_in_scope
        lexical, vector = _scaled(wording.raw_lexical, cosine)
        own = fuse(lexical, vector, wording.lexical_weight)
        relevance, lenders = self.reach.lend(own, self.part_share)
        return ComponentScores(
            query=query,
            raw_lexical=frozen(in_scope(wording.raw_lexical)),
            lexical=frozen(in_scope(lexical)),
            cosine=frozen(in_scope(cosine).copy()),
            vector=frozen(in_scope(vector)),
            own_relevance=frozen(in_scope(own)),
            doc_relevance=frozen(relevance),
            lenders=frozen(lenders),
            lexical_weight=wording.lexical_weight,
        )

    def relevance(self, query: str, cosine: Scores, at: Rows) -> Scores:
        """Return `doc_relevance` of a few documents in scope; other cosines are not looked at."""
        wording, around = self.wordings[query], self.reach.around(at)
        scaled = _scaled(wording.raw_lexical[around], cosine[around])
        own = np.zeros(len(self.reach.rows))
        own[around] = fuse(*scaled, wording.lexical_weight)
        relevance, _ = self.reach.lend(own, self.part_share)
        return relevance[at]


def _scaled(raw_lexical: Scores, cosine: Scores) -> tuple[Scores, Scores]:
    return scale_lexical(raw_lexical), above_floor(scale_cosine(cosine), raw_lexical)
