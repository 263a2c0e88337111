"""Evidence for one ranking that is asked for once: what cannot be among its best is not compared.

Worth it where the search is two-pass in a large base: links and words set most documents apart, so
a few hundred of 100,000 are compared in meaning. In a flat search all are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kbx_tui.search.convergence import WORTH_FROM, Rule, converge
from kbx_tui.search.evidence import ComponentScores, Evidence, Rows, Scores, frozen
from kbx_tui.search.ranking import rank, scores_of
from kbx_tui.search.scales import above_floor, fuse, scale_cosine, scale_lexical
from kbx_tui.search.tuning import Tuning

CosineOf = Callable[[str, Rows], Scores]
"""Returns the cosines of rows with a wording of the query, NaN where there is no vector."""


@dataclass(frozen=True, slots=True)
class Once:
    """The one ranking that is wanted."""

    tuning: Tuning
    limit: int
    rule: Rule = "exact"


def components(
    query: str, raw_lexical: Scores, cosine: Scores, lexical_weight: float
) -> ComponentScores:
    """Return the component scores of documents from BM25 and cosine, each of shape (n,)."""
    lexical = scale_lexical(raw_lexical)
    vector = above_floor(scale_cosine(cosine), raw_lexical)
    return ComponentScores(
        query=query,
        raw_lexical=frozen(raw_lexical),
        lexical=frozen(lexical),
        cosine=frozen(cosine),
        vector=frozen(vector),
        doc_relevance=frozen(fuse(lexical, vector, lexical_weight)),
        lexical_weight=lexical_weight,
    )


def best_evidence(hopeful: Evidence, once: Once, cosine_of: CosineOf) -> Evidence | None:
    """Return evidence whose ranking has the best `limit` documents; None when all are to be scored.

    `hopeful` is complete but for meaning: every cosine is 1, so its scores are those that can be
    reached.
    """
    if len(hopeful) < WORTH_FROM:
        return None
    ranking = rank(hopeful, once.tuning)
    if ranking.search_mode == "flat":
        return None
    found = ranking.components
    cosine = np.full(len(hopeful), np.nan)

    def finals(rows: Rows) -> Scores:
        cosine[rows] = cosine_of(found.query, rows)
        some = components(found.query, found.raw_lexical[rows], cosine[rows], found.lexical_weight)
        return scores_of(ranking, rows, some.doc_relevance)

    reach = np.where(ranking.included, ranking.final, -np.inf)
    converged = converge(reach, finals, once.limit, once.rule)
    if converged is None:
        return None
    scored = components(found.query, found.raw_lexical, cosine, found.lexical_weight)
    return replace(
        hopeful,
        as_typed=scored,
        as_searched=scored,
        evaluated=frozen(converged.evaluated),
        stopped_by=converged.stopped,
        only_for=once.tuning,
    )
