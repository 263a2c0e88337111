"""Top-k retrieval for one tuning: exact cosines only for documents that can enter the top k.

Cosines with quantized vectors (`int8_codes`) have a known maximum error. They bound the final score
of every document, and decide for nearly all whether they are results, so that few documents need
exact cosines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kbx_tui.search.evidence.evidence import (
    ComponentScores,
    EntityCandidate,
    Evidence,
    Flags,
    Rows,
    Scores,
    frozen,
)
from kbx_tui.search.evidence.scoring import Scoring
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.retrieval.top_k.convergence import WORTH_FROM, WORTH_SHARE, Rule, converge

ApproximateCosine = Callable[[str], tuple[Scores, float]]
"""Returns approximate cosines of a query variant with all scored documents, NaN where there is no
vector, and the maximum error. Called before `ExactCosine`."""
ExactCosine = Callable[[str, Rows], Scores]
"""Returns the cosines of a query variant with the scored documents at some positions."""

UNDECIDED_SHARE = 1 / 3
"""Share of documents above which a full scan is faster, if quantized vectors leave undecided which
of them are results. Chosen by the experiment "undecided documents in top-k retrieval" in
docs/quality.md."""


class RankedScores(Protocol):
    """The scores of one ranking, shape (n,) over the rows of its Evidence."""

    @property
    def components(self) -> ComponentScores:
        """The component scores that the ranking uses."""

    @property
    def final(self) -> Scores:
        """Final scores, 0..1."""

    @property
    def matched(self) -> Flags:
        """Rows that are results."""

    @property
    def lists_linked(self) -> bool:
        """Whether all documents linked to kept entities are results: few others would be."""

    def final_for(self, rows: Rows, relevance: Scores) -> Scores:
        """Return the final scores that `rows` would have with a lower relevance."""


@dataclass(frozen=True, slots=True)
class TopKRequest:
    """Asks for the best `limit` documents of one ranking only."""

    tuning: Tuning
    limit: int
    rank: Callable[[Evidence, Tuning], RankedScores]
    """Ranks the documents; scores should be lazy, as `query_variant` needs none."""
    rule: Rule = "exact"

    @property
    def uses_query_as_typed(self) -> bool:
        """True when names stay in the query, whatever entities are named."""
        return not self.tuning.hierarchy or self.tuning.keep_names

    def may_keep(self, entity: EntityCandidate) -> bool:
        """Return whether the ranking may keep an entity: by its score, or because it is pinned."""
        tuning = self.tuning
        return entity.score >= tuning.entity_threshold or entity.id in tuning.pinned

    def query_variant(self, evidence: Evidence) -> str:
        """Return the query variant whose scores the ranking uses."""
        return self.rank(evidence, self.tuning).components.query


def top_k_evidence(
    evidence: Evidence,
    top_k: TopKRequest,
    scoring: Scoring,
    approximate_cosine: ApproximateCosine,
    exact_cosine: ExactCosine,
) -> Evidence | None:
    """Return evidence that ranks the top k and counts the results as a full scan would.

    `evidence` lacks cosines only. Documents that were not evaluated keep their approximate cosine.
    None if a full scan would be faster.
    """
    largest_limit = int(WORTH_SHARE * len(evidence))
    if len(evidence) < WORTH_FROM or top_k.limit > largest_limit:
        return None
    query = top_k.query_variant(evidence)
    cosine, error = approximate_cosine(query)
    if not np.isfinite(error):
        return None

    def ranked(scores: ComponentScores) -> RankedScores:
        with_scores = replace(evidence, as_typed=scores, as_searched=scores)
        return top_k.rank(with_scores, top_k.tuning)

    highest = ranked(scoring.components(query, cosine + error))
    if highest.lists_linked:
        return None  # other documents may be the results: `Ranking.matched`

    def evaluate(rows: Rows) -> None:
        positions = scoring.documents.positions_for(rows)
        cosine[positions] = exact_cosine(query, positions)

    def final_for(rows: Rows) -> Scores:
        evaluate(rows)
        return highest.final_for(rows, scoring.relevance(query, cosine, rows))

    bounds = np.where(highest.matched, highest.final, -np.inf)
    converged = converge(bounds, final_for, top_k.limit, top_k.rule)
    if converged is None:
        return None
    evaluated = converged.evaluated
    is_relevant = scoring.is_relevant(query, cosine - error)
    if not np.array_equal(is_relevant, highest.components.doc_relevance > 0.0):
        lowest = ranked(scoring.components(query, cosine - error))
        if lowest.lists_linked:
            return None
        undecided = np.flatnonzero(highest.matched & ~lowest.matched & ~evaluated)
        if len(undecided) > UNDECIDED_SHARE * len(evidence):
            return None
        evaluate(undecided)
        evaluated[undecided] = True
    scores = scoring.components(query, cosine)
    return replace(
        evidence,
        as_typed=scores,
        as_searched=scores,
        evaluated=frozen(evaluated),
        stopped_by=converged.stopped_by,
        only_for=top_k.tuning,
    )
