"""From Evidence to an order. Pure: no I/O, a few array operations.

    final = alpha * doc_relevance + (1 - alpha) * parent_entity_score
    final = (1 - h) * final + h * hotness            with hotness_weight h, 0 by default

Source: the two-pass proposal, "Score Propagation Formula". A document that is all the
query asks for (`Evidence.exact`) scores 1.0 and comes first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from kbx_tui.errors import OutOfRange
from kbx_tui.search.evidence.evidence import (
    ComponentScores,
    EntityCandidate,
    Evidence,
    FeedbackDocument,
    Flags,
    Rows,
    Scores,
)
from kbx_tui.search.evidence.tuning import Tuning

SearchMode = Literal["two_pass", "flat"]
Reason = Literal[
    "entities",
    "disabled",
    "fast",
    "no_entities",
    "below_threshold",
    "too_broad",
    "nothing_linked",
]

SPREAD_RANK = 5
SPREAD = 0.1
"""Too broad when the best entity beats the fifth by less (two-pass proposal, section 4)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One document of a ranking."""

    row: int
    """Row in the Evidence."""
    rank: int
    """1 is best."""
    score: float
    doc_relevance: float
    parent_entity_score: float
    document_part: float
    """What the document adds to the score, `alpha * doc_relevance` when two-pass.

    The three parts sum to the score, or, where `exact` is set, to what it would be without.
    """
    entity_part: float
    hotness_part: float
    exact: str
    """How the query asks for it and nothing else (`Evidence.exact`), else empty."""


@dataclass(frozen=True)
class Ranking:
    """What `rank` makes of one Evidence under one Tuning."""

    evidence: Evidence
    tuning: Tuning
    search_mode: SearchMode
    search_mode_reason: Reason
    kept: tuple[int, ...]
    """Indices into `evidence.entities`: pinned ones and those that pass the threshold, best first
    by the score they count with; empty when flat."""
    counted: tuple[int, ...]
    """Those of `kept` that make up the parent score."""
    final: Scores
    doc_relevance: Scores
    parent_entity_score: Scores
    matched: Flags
    """Rows that are results at all, also those whose place is not known."""
    included: Flags
    """Rows that are results and were compared: all of `matched`, unless the evidence was retrieved
    for the best alone."""

    @property
    def total_matched(self) -> int:
        """How many results there are, also where evidence was retrieved for the best alone."""
        return int(np.count_nonzero(self.matched))

    @property
    def components(self) -> ComponentScores:
        """The component scores this ranking used."""
        return components_for(self.evidence, self.tuning, self.kept)

    @property
    def drawn_to(self) -> tuple[FeedbackDocument, ...]:
        """The documents that drew the meaning of the query this ranking used, best first."""
        as_typed = self.components.query == self.evidence.query
        return self.evidence.drawn_to if as_typed else ()

    @property
    def is_coverage(self) -> bool:
        """True when the parent score is a mean over `counted`, false when the best one counts."""
        return _is_coverage(self.evidence, self.counted, self.tuning)

    @property
    def kept_entities(self) -> tuple[EntityCandidate, ...]:
        return tuple(self.evidence.entities[index] for index in self.kept)

    def entity_score(self, index: int) -> float:
        """Return the score that entity `index` of the Evidence counts with: 1.0 when pinned."""
        return _entity_score(self.evidence, index, self.tuning)

    @cached_property
    def order(self) -> Rows:
        """All included rows, best first; ties by newer date, then path."""
        rows = np.flatnonzero(self.included)
        return rows[self._sort(rows)]

    def at(self, alpha: float) -> Ranking:
        """Return the ranking under another alpha; which entities count does not depend on it."""
        tuning = replace(self.tuning, alpha=alpha)
        _require_fit(self.evidence, tuning)
        final, matched = _final(
            self.evidence, tuning, self.kept, self.doc_relevance, self.parent_entity_score
        )
        return replace(self, tuning=tuning, final=final, **_results(self.evidence, matched))

    def top(self, limit: int) -> tuple[Ranked, ...]:
        """Return the best `limit` documents; cheaper than `order` for small limits."""
        return tuple(self.ranked(int(row), rank) for rank, row in enumerate(self.best(limit), 1))

    def ranked(self, row: int, rank: int) -> Ranked:
        """Return the numbers of one row, at the given rank."""
        return _numbers(self, row, rank)

    def best(self, limit: int) -> Rows:
        """Return the rows of the best `limit` documents, best first."""
        rows = np.flatnonzero(self.included)
        if limit < len(rows):  # everything that ties with the last place must be compared
            floor = np.partition(self.final[rows], len(rows) - limit)[len(rows) - limit]
            rows = rows[self.final[rows] >= floor]
        return rows[self._sort(rows)][:limit]

    def _sort(self, rows: Rows) -> Rows:
        """Return the order of `rows`, ascending ones, as indices into them."""
        exact = np.isin(rows, list(self.evidence.exact))
        keys = (self.doc_relevance[rows], exact, self.final[rows])
        order = np.lexsort((rows, *(-key.astype(float) for key in keys)))
        tied = np.ones(max(len(rows) - 1, 0), dtype=np.bool_)
        for key in keys:
            tied &= key[order[1:]] == key[order[:-1]]
        return self._newest_first(rows, order, tied) if tied.any() else order

    def _newest_first(self, rows: Rows, order: Rows, tied: Flags) -> Rows:
        """Return `order` with runs of equals by date; few are, so few dates are looked at.

        `tied` tells whether a place equals the one after it.
        """
        dates = self.evidence.dates
        starts = np.flatnonzero(tied & ~np.concatenate(([False], tied[:-1])))
        ends = np.flatnonzero(tied & ~np.concatenate((tied[1:], [False]))) + 2
        for start, end in zip(starts, ends, strict=True):
            run = order[start:end].tolist()  # by path, which a stable sort keeps
            order[start:end] = sorted(run, key=lambda at: dates[rows[at]], reverse=True)
        return order


def rank(evidence: Evidence, tuning: Tuning) -> Ranking:
    """Order the documents of `evidence` under `tuning`.

    Raises OutOfRange where the evidence was retrieved for another tuning alone.
    """
    _require_fit(evidence, tuning)
    kept, reason = choose_entities(evidence, tuning)
    relevance = components_for(evidence, tuning, kept).doc_relevance
    counted = _counted(evidence, kept, tuning)
    parent = _parent_entity_score(evidence, counted, tuning, relevance)
    final, matched = _final(evidence, tuning, kept, relevance, parent)
    return Ranking(
        evidence=evidence,
        tuning=tuning,
        search_mode="two_pass" if kept else "flat",
        search_mode_reason=reason,
        kept=kept,
        counted=counted,
        final=final,
        doc_relevance=relevance,
        parent_entity_score=parent,
        **_results(evidence, matched),
    )


def components_for(evidence: Evidence, tuning: Tuning, kept: tuple[int, ...]) -> ComponentScores:
    """Return the component scores that a ranking with these kept entities uses."""
    flat = not kept or tuning.keep_names
    return evidence.as_typed if flat else evidence.as_searched


def _require_fit(evidence: Evidence, tuning: Tuning) -> None:
    if evidence.only_for is not None and evidence.only_for != tuning:
        raise OutOfRange(
            "this evidence holds what one search needed and no more; for other knobs use "
            "retrieve(), which compares all documents"
        )


def _results(evidence: Evidence, matched: Flags) -> dict[str, Any]:
    compared = matched if evidence.evaluated is None else matched & evidence.evaluated
    return {"matched": matched, "included": compared}


def scores_of(ranking: Ranking, rows: Rows, relevance: Scores) -> Scores:
    """Return the final scores that some rows of a ranking have with another relevance.

    It is above 0 nowhere where that of the ranking is 0.
    """
    evidence, parent = ranking.evidence, ranking.parent_entity_score[rows]
    if (relevance <= 0.0).any():
        nothing = np.zeros(len(evidence))
        own = _parent_entity_score(evidence, ranking.counted, ranking.tuning, nothing)
        parent = np.where(relevance > 0.0, parent, own[rows])
    final = _blend(evidence, ranking.tuning, relevance, parent, rows, two_pass=bool(ranking.kept))
    return np.where(np.isin(rows, list(evidence.exact)), 1.0, final)


def _final(
    evidence: Evidence, tuning: Tuning, kept: tuple[int, ...], relevance: Scores, parent: Scores
) -> tuple[Scores, Flags]:
    """Return the final scores, and which rows are results at all."""
    final = _blend(evidence, tuning, relevance, parent, slice(None), two_pass=bool(kept))
    included = final > 0.0
    if kept and tuning.gate == "hard":
        included &= _linked(evidence, kept)
    if evidence.exact:
        rows = list(evidence.exact)
        final, included = final.copy(), included.copy()
        final[rows], included[rows] = 1.0, True
    return final, included


def _blend(
    evidence: Evidence,
    tuning: Tuning,
    relevance: Scores,
    parent: Scores,
    rows: Rows | slice,
    *,
    two_pass: bool,
) -> Scores:
    blended = tuning.alpha * relevance + (1.0 - tuning.alpha) * parent if two_pass else relevance
    h = hotness_share(evidence, tuning)
    return (1.0 - h) * blended + h * evidence.hotness[rows] if h else blended


def hotness_share(evidence: Evidence, tuning: Tuning) -> float:
    """Return the weight hotness has: none where nothing was ever opened.

    There it would only lower every score.
    """
    return tuning.hotness_weight if evidence.hotness.any() else 0.0


def choose_entities(evidence: Evidence, tuning: Tuning) -> tuple[tuple[int, ...], Reason]:
    """Return the kept entities, best first, and the reason; none kept means flat."""
    if evidence.fast:
        return (), "fast"
    if not tuning.hierarchy:
        return (), "disabled"
    entities = evidence.entities
    pinned = [i for i in range(len(entities)) if _is_pinned(evidence, i, tuning)]
    found = [i for i, e in enumerate(entities) if e.found and e.id not in tuning.muted]
    if not found and not pinned:
        return (), "no_entities"
    passed = [i for i in found if entities[i].score >= tuning.entity_threshold]
    if not passed and not pinned:
        return (), "below_threshold"
    scores = [entities[i].score for i in found]
    close = len(scores) >= SPREAD_RANK and scores[0] - scores[SPREAD_RANK - 1] < SPREAD
    if close and not (pinned or any(entities[i].named for i in passed)):
        return (), "too_broad"
    others = [i for i in passed if i not in pinned]
    kept = pinned + others[: max(tuning.max_entities - len(pinned), 0)]
    kept.sort(key=lambda i: (-_entity_score(evidence, i, tuning), i))
    if not any(len(evidence.links[i].rows) for i in kept):
        return (), "nothing_linked"
    return tuple(kept), "entities"


def _is_pinned(evidence: Evidence, index: int, tuning: Tuning) -> bool:
    entity_id = evidence.entities[index].id
    return entity_id in tuning.pinned and entity_id not in tuning.muted


def _is_named(evidence: Evidence, index: int, tuning: Tuning) -> bool:
    return evidence.entities[index].named or _is_pinned(evidence, index, tuning)


def _entity_score(evidence: Evidence, index: int, tuning: Tuning) -> float:
    return 1.0 if _is_pinned(evidence, index, tuning) else evidence.entities[index].score


def _is_coverage(evidence: Evidence, counted: tuple[int, ...], tuning: Tuning) -> bool:
    return tuning.parent == "coverage" and all(_is_named(evidence, i, tuning) for i in counted)


def _counted(evidence: Evidence, kept: tuple[int, ...], tuning: Tuning) -> tuple[int, ...]:
    named = tuple(i for i in kept if _is_named(evidence, i, tuning))
    return named if named and tuning.parent == "coverage" else kept


def _parent_entity_score(
    evidence: Evidence, counted: tuple[int, ...], tuning: Tuning, relevance: Scores
) -> Scores:
    parent = np.zeros(len(evidence))
    coverage = _is_coverage(evidence, counted, tuning)
    for index in counted:
        linked, score = evidence.links[index], _entity_score(evidence, index, tuning)
        share = score if tuning.uniform_links else score * linked.strengths_for(relevance)
        if coverage:
            parent[linked.rows] += share / len(counted)
        else:
            parent[linked.rows] = np.maximum(parent[linked.rows], share)
    return np.minimum(parent, 1.0)


def _linked(evidence: Evidence, kept: tuple[int, ...]) -> Flags:
    flags = np.zeros(len(evidence), dtype=np.bool_)
    for index in kept:
        flags[evidence.links[index].rows] = True
    return flags


def _numbers(ranking: Ranking, row: int, rank: int) -> Ranked:
    tuning, evidence = ranking.tuning, ranking.evidence
    relevance = float(ranking.doc_relevance[row])
    parent = float(ranking.parent_entity_score[row])
    two_pass = ranking.search_mode == "two_pass"
    document = tuning.alpha * relevance if two_pass else relevance
    entity = (1.0 - tuning.alpha) * parent if two_pass else 0.0
    h, exact = hotness_share(evidence, tuning), evidence.exact.get(row, "")
    return Ranked(
        row=row,
        rank=rank,
        score=float(ranking.final[row]),
        doc_relevance=relevance,
        parent_entity_score=parent,
        document_part=(1.0 - h) * document,
        entity_part=(1.0 - h) * entity,
        hotness_part=h * float(evidence.hotness[row]),
        exact=exact,
    )
