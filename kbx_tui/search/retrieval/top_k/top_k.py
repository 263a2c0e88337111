"""Evidence for one ranking that is asked for once: what cannot be among its best is not compared.

What rounded vectors say of a document (`int8_codes`) is near enough to what it is to tell
which could be, and how many are results at all: of 6,000 documents 20 are left to compare, or some
hundred where only meaning decides what is a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kbx_tui.search.evidence.evidence import EntityCandidate, Evidence, Rows, Scores, frozen
from kbx_tui.search.evidence.scoring import Scoring
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking, choose_entities, components_for, rank, scores_of
from kbx_tui.search.retrieval.top_k.convergence import WORTH_FROM, WORTH_SHARE, Rule, converge

AboutCosine = Callable[[str], tuple[Scores, float]]
"""Returns about what the cosine of each document in reach with a wording of the query is, NaN where
there is no vector, and how far at most it is from that. Asked before `CosineOf` is."""
CosineOf = Callable[[str, Rows], Scores]
"""Returns the cosines of a wording with documents by their places in reach, NaN without vectors."""


UNSURE_SHARE = 1 / 3
"""Share of the documents up to which those are compared one by one of which codes do not tell
whether they are results: of each only the chunks that can be its best are read. With a tenth, 19 of
200 searches of 5,706 documents for someone compared all."""


@dataclass(frozen=True, slots=True)
class Once:
    """The one ranking that is wanted."""

    tuning: Tuning
    limit: int
    rule: Rule = "exact"

    @property
    def compares_as_typed(self) -> bool:
        """True where names are not taken out, whatever is named."""
        return not self.tuning.hierarchy or self.tuning.keep_names

    def may_keep(self, entity: EntityCandidate) -> bool:
        """Tell whether the ranking may use the links of an entity: its score reaches the threshold,
        or it is pinned.
        """
        tuning = self.tuning
        return entity.score >= tuning.entity_threshold or entity.id in tuning.pinned

    def wording(self, evidence: Evidence) -> str:
        """Return the wording of the query that the ranking compares documents with."""
        kept, _ = choose_entities(evidence, self.tuning)
        return components_for(evidence, self.tuning, kept).query


def all_evidence(evidence: Evidence, once: Once, scoring: Scoring, cosine: Scores) -> Evidence:
    """Return evidence with the cosines of all documents with the one wording that is ranked by.

    `cosine` has a place per document in reach, NaN where there is no vector.
    """
    scores = scoring.components(once.wording(evidence), cosine)
    return replace(evidence, as_typed=scores, as_searched=scores, only_for=once.tuning)


def best_evidence(
    evidence: Evidence, once: Once, scoring: Scoring, about_cosine: AboutCosine, cosine_of: CosineOf
) -> Evidence | None:
    """Return evidence whose ranking has the best `limit` documents, and how many there are; None
    when all are to be scored.

    `evidence` is complete but for meaning. The cosine of a document that was not compared is the
    one that rounded vectors have.
    """
    most = int(WORTH_SHARE * len(evidence))
    if len(evidence) < WORTH_FROM or once.limit > most:
        return None
    wording = once.wording(evidence)
    cosine, slack = about_cosine(wording)
    if not np.isfinite(slack):
        return None

    def ranked(cosine: Scores) -> Ranking:
        scores = scoring.components(wording, cosine)
        return rank(replace(evidence, as_typed=scores, as_searched=scores), once.tuning)

    hopeful = ranked(cosine + slack)

    def compare(rows: Rows) -> None:
        around = scoring.reach.around(rows)
        cosine[around] = cosine_of(wording, around)

    def finals(rows: Rows) -> Scores:
        compare(rows)
        return scores_of(hopeful, rows, scoring.relevance(wording, cosine, rows))

    highest = np.where(hopeful.matched, hopeful.final, -np.inf)
    converged = converge(highest, finals, once.limit, once.rule)
    if converged is None:
        return None
    evaluated = converged.evaluated
    unsure = np.flatnonzero(hopeful.matched & ~ranked(cosine - slack).matched & ~evaluated)
    if len(unsure) > UNSURE_SHARE * len(evidence):
        return None
    compare(unsure)
    evaluated[unsure] = True
    scores = scoring.components(wording, cosine)
    return replace(
        evidence,
        as_typed=scores,
        as_searched=scores,
        evaluated=frozen(evaluated),
        stopped_by=converged.stopped,
        only_for=once.tuning,
    )
