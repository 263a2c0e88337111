"""Evidence for one ranking that is asked for once: what cannot be among its best is not compared.

What rounded vectors say of a document (`index/quantized.py`) is near enough to what it is to tell
which could be, and how many are results at all: of 6,000 documents 20 are left to compare, or some
hundred where only meaning decides what is a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kbx_tui.search.convergence import WORTH_FROM, WORTH_SHARE, Rule, converge
from kbx_tui.search.evidence import ComponentScores, Evidence, Rows, Scores, frozen
from kbx_tui.search.ranking import Ranking, choose_entities, components_for, rank, scores_of
from kbx_tui.search.scales import above_floor, fuse, scale_cosine, scale_lexical
from kbx_tui.search.tuning import Tuning

AboutCosine = Callable[[str], tuple[Scores, float]]
"""Returns about what the cosine of each row with a wording of the query is, NaN where there is no
vector, and how far at most it is from that."""
CosineOf = Callable[[str, Rows], Scores]
"""Returns the cosines of rows with a wording of the query, NaN where there is no vector."""


@dataclass(frozen=True, slots=True)
class Once:
    """The one ranking that is wanted."""

    tuning: Tuning
    limit: int
    rule: Rule = "exact"

    def compared(self, evidence: Evidence) -> ComponentScores:
        """Return the scores that the ranking uses; what they lack is their cosines."""
        return components_for(evidence, self.tuning, choose_entities(evidence, self.tuning)[0])


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


def all_evidence(evidence: Evidence, once: Once, cosine: Scores) -> Evidence:
    """Return evidence with the cosines of all documents with the one wording that is ranked by.

    `cosine` has shape (n,), NaN where there is no vector.
    """
    found = once.compared(evidence)
    scores = components(found.query, found.raw_lexical, cosine, found.lexical_weight)
    return replace(evidence, as_typed=scores, as_searched=scores, only_for=once.tuning)


def best_evidence(
    evidence: Evidence, once: Once, about_cosine: AboutCosine, cosine_of: CosineOf
) -> Evidence | None:
    """Return evidence whose ranking has the best `limit` documents, and how many there are; None
    when all are to be scored.

    `evidence` is complete but for meaning. The cosine of a document that was not compared is the
    one that rounded vectors have.
    """
    most = int(WORTH_SHARE * len(evidence))
    if len(evidence) < WORTH_FROM or once.limit > most:
        return None
    found = once.compared(evidence)
    cosine, slack = about_cosine(found.query)
    if not np.isfinite(slack):
        return None

    def scored(cosine: Scores, rows: Rows | slice = slice(None)) -> ComponentScores:
        return components(found.query, found.raw_lexical[rows], cosine, found.lexical_weight)

    def ranked(cosine: Scores) -> Ranking:
        scores = scored(cosine)
        return rank(replace(evidence, as_typed=scores, as_searched=scores), once.tuning)

    hopeful = ranked(cosine + slack)

    def finals(rows: Rows) -> Scores:
        cosine[rows] = cosine_of(found.query, rows)
        return scores_of(hopeful, rows, scored(cosine[rows], rows).doc_relevance)

    reach = np.where(hopeful.matched, hopeful.final, -np.inf)
    converged = converge(reach, finals, once.limit, once.rule)
    if converged is None:
        return None
    evaluated = converged.evaluated
    unsure = np.flatnonzero(hopeful.matched & ~ranked(cosine - slack).matched & ~evaluated)
    if len(unsure) > most:
        return None
    cosine[unsure] = cosine_of(found.query, unsure)
    evaluated[unsure] = True
    scores = scored(cosine)
    return replace(
        evidence,
        as_typed=scores,
        as_searched=scores,
        evaluated=frozen(evaluated),
        stopped_by=converged.stopped,
        only_for=once.tuning,
    )
