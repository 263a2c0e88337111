"""From Evidence to an order. Pure: no I/O, a few array operations.

    final = alpha * doc_relevance + (1 - alpha) * parent_entity_score
    final = (1 - h) * final + h * hotness            with hotness_weight h, 0 by default

Source: the two-pass proposal, "Score Propagation Formula". A document whose title, path or id
is the query scores 1.0 and comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from kbx_tui.search.evidence import ComponentScores, EntityCandidate, Evidence, Flags, Rows, Scores
from kbx_tui.search.tuning import Tuning

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
    """`title`, `path` or `id` when the query is exactly that, else empty."""


@dataclass(frozen=True)
class Ranking:
    """What `rank` makes of one Evidence under one Tuning."""

    evidence: Evidence
    tuning: Tuning
    search_mode: SearchMode
    search_mode_reason: Reason
    kept: tuple[int, ...]
    """Indices into `evidence.entities` that pass the threshold, best first; empty when flat."""
    counted: tuple[int, ...]
    """Those of `kept` that make up the parent score."""
    final: Scores
    doc_relevance: Scores
    parent_entity_score: Scores
    included: Flags
    """Rows that are results at all."""

    @property
    def components(self) -> ComponentScores:
        """The component scores this ranking used."""
        flat = self.search_mode == "flat" or self.tuning.keep_names
        return self.evidence.as_typed if flat else self.evidence.as_searched

    @property
    def kept_entities(self) -> tuple[EntityCandidate, ...]:
        return tuple(self.evidence.entities[index] for index in self.kept)

    @cached_property
    def order(self) -> Rows:
        """All included rows, best first; ties by newer date, then path."""
        rows = np.flatnonzero(self.included)
        return rows[self._sort(rows)]

    def top(self, limit: int) -> tuple[Ranked, ...]:
        """Return the best `limit` documents; cheaper than `order` for small limits."""
        return tuple(self.ranked(int(row), rank) for rank, row in enumerate(self._best(limit), 1))

    def ranked(self, row: int, rank: int) -> Ranked:
        """Return the numbers of one row, at the given rank."""
        return _numbers(self, row, rank)

    def _best(self, limit: int) -> Rows:
        rows = np.flatnonzero(self.included)
        if limit < len(rows):  # everything that ties with the last place must be compared
            floor = np.partition(self.final[rows], len(rows) - limit)[len(rows) - limit]
            rows = rows[self.final[rows] >= floor]
        return rows[self._sort(rows)][:limit]

    def _sort(self, rows: Rows) -> Rows:
        dates = np.array([self.evidence.dates[row] for row in rows], dtype="U10")
        newest_first = np.unique(dates, return_inverse=True)[1]
        exact = np.isin(rows, list(self.evidence.exact))
        relevance = self.doc_relevance[rows]
        return np.lexsort((rows, -newest_first, -relevance, ~exact, -self.final[rows]))


def rank(evidence: Evidence, tuning: Tuning) -> Ranking:
    """Order the documents of `evidence` under `tuning`."""
    kept, reason = choose_entities(evidence, tuning)
    two_pass = bool(kept)
    components = evidence.as_searched if two_pass and not tuning.keep_names else evidence.as_typed
    relevance = components.doc_relevance
    counted = _counted(evidence, kept, tuning)
    parent = _parent_entity_score(evidence, counted, tuning)
    blended = tuning.alpha * relevance + (1.0 - tuning.alpha) * parent if two_pass else relevance
    h = hotness_share(evidence, tuning)
    final = (1.0 - h) * blended + h * evidence.hotness if h else blended
    included = final > 0.0
    if two_pass and tuning.gate == "hard":
        included &= _linked(evidence, kept)
    if evidence.exact:
        rows = list(evidence.exact)
        final, included = final.copy(), included.copy()
        final[rows], included[rows] = 1.0, True
    return Ranking(
        evidence=evidence,
        tuning=tuning,
        search_mode="two_pass" if two_pass else "flat",
        search_mode_reason=reason,
        kept=kept,
        counted=counted,
        final=final,
        doc_relevance=relevance,
        parent_entity_score=parent,
        included=included,
    )


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
    found = [i for i, e in enumerate(evidence.entities) if e.id not in tuning.muted]
    if not found:
        return (), "no_entities"
    scores = [evidence.entities[i].score for i in found]
    kept = [i for i in found if evidence.entities[i].score >= tuning.entity_threshold]
    if not kept:
        return (), "below_threshold"
    named = any(evidence.entities[i].named for i in kept)
    close = len(scores) >= SPREAD_RANK and scores[0] - scores[SPREAD_RANK - 1] < SPREAD
    if close and not named:
        return (), "too_broad"
    kept = kept[: tuning.max_entities]
    if not any(len(evidence.links[i].rows) for i in kept):
        return (), "nothing_linked"
    return tuple(kept), "entities"


def _counted(evidence: Evidence, kept: tuple[int, ...], tuning: Tuning) -> tuple[int, ...]:
    named = tuple(i for i in kept if evidence.entities[i].named)
    return named if named and tuning.parent == "coverage" else kept


def _parent_entity_score(evidence: Evidence, counted: tuple[int, ...], tuning: Tuning) -> Scores:
    parent = np.zeros(len(evidence))
    coverage = tuning.parent == "coverage" and all(evidence.entities[i].named for i in counted)
    for index in counted:
        linked, score = evidence.links[index], evidence.entities[index].score
        share = score if tuning.uniform_links else score * linked.strengths
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
