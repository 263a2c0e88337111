"""Which entities a ranking keeps, and what they add to the scores of documents. Pure.

    credit = weight * entity_score * link_strength * answered

for each counted entity, where `answered` is how fully the document answers what the query asks
besides people and teams (`Topic`), 1 where it asks nothing else. The credits of entities that the
query names are summed, their weights being shares of 1; of others the highest counts. Credit never
falls when relevance, a link strength or an entity score rises.

Things that the query names count a little less than people, and their link strength is raised to
the fourth power: a passing mention hardly counts. Without `Tuning.scale_by_topic`, `answered` is 1
and things count as people do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

import numpy as np

from kbx_tui.search.evidence.evidence import EntityCandidate, Evidence, Topic
from kbx_tui.search.evidence.scores import (
    THING_SHARPNESS,
    THING_WEIGHT,
    ComponentScores,
    Flags,
    Rows,
    Scores,
    power,
)
from kbx_tui.search.request import Tuning

SearchMode = Literal["two_pass", "flat"]
Reason = Literal[
    "entities", "disabled", "fast", "no_entities", "below_threshold", "too_broad", "nothing_linked"
]
"""Why a search is two-pass (`entities`) or flat (any other)."""

SPREAD_RANK = 5
SPREAD = 0.1
"""A query is too broad if the best entity leads the fifth by less. Source: two-pass proposal,
section 4."""


@dataclass(frozen=True)
class EntityChoice:
    evidence: Evidence
    tuning: Tuning
    kept: tuple[int, ...]
    """Indices into `evidence.entities`: pinned ones and those that pass the threshold, by
    descending `entity_score`; empty when flat."""
    search_mode_reason: Reason
    unanswered: bool = False
    """True where no document says much of a topic of common words: it counts as none."""

    @property
    def search_mode(self) -> SearchMode:
        return "two_pass" if self.kept else "flat"

    @property
    def components(self) -> ComponentScores:
        flat = not self.kept or self.tuning.keep_names
        return self.evidence.as_typed if flat else self.evidence.as_searched

    @property
    def kept_entities(self) -> tuple[EntityCandidate, ...]:
        return tuple(self.evidence.entities[index] for index in self.kept)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """Those of `kept` that contribute to the parent score: those named outright, if any."""
        named = tuple(filter(self._is_named, self.kept))
        return named if named and self.tuning.parent == "coverage" else self.kept

    @cached_property
    def is_coverage(self) -> bool:
        return self.tuning.parent == "coverage" and all(map(self._is_named, self.counted))

    @property
    def topic(self) -> Topic | None:
        """The topic by which scores are scaled.

        None when flat, where the query names people and asks nothing else that is answered, or if
        `Tuning.scale_by_topic` is off.
        """
        counts = self.kept and self.tuning.scale_by_topic and not self.unanswered
        return self.evidence.topic if counts else None

    def entity_score(self, index: int) -> float:
        """Return the score that entity `index` of the Evidence counts with: 1.0 if pinned."""
        entity = self.evidence.entities[index]
        return 1.0 if self.tuning.pins(entity.id) else entity.score

    def _is_named(self, index: int) -> bool:
        entity = self.evidence.entities[index]
        return entity.named or self.tuning.pins(entity.id)


def choose_entities(evidence: Evidence, tuning: Tuning) -> tuple[tuple[int, ...], Reason]:
    """Return the indices of the kept entities, best first, and the reason; flat if empty."""
    if evidence.fast:
        return (), "fast"
    if not tuning.hierarchy:
        return (), "disabled"
    entities = evidence.entities
    pinned = [i for i, e in enumerate(entities) if tuning.pins(e.id)] if tuning.pinned else []
    candidates = [i for i, e in enumerate(entities) if e.found and e.id not in tuning.muted]
    if not candidates and not pinned:
        return (), "no_entities"
    passed = [i for i in candidates if entities[i].score >= tuning.entity_threshold]
    if not passed and not pinned:
        return (), "below_threshold"
    scores = [entities[i].score for i in candidates]
    close = len(scores) >= SPREAD_RANK and scores[0] - scores[SPREAD_RANK - 1] < SPREAD
    if close and not (pinned or any(entities[i].named for i in passed)):
        return (), "too_broad"
    others = [i for i in passed if i not in pinned]
    kept = pinned + others[: max(tuning.max_entities - len(pinned), 0)]
    kept.sort(key=lambda i: (-1.0 if i in pinned else -entities[i].score, i))
    if not any(len(evidence.links[i].rows) for i in kept):
        return (), "nothing_linked"
    return tuple(kept), "entities"


@dataclass(frozen=True, slots=True)
class Credit:
    weight: float
    """Its share of the mean over the named entities; 1 where the highest credit counts."""
    entity_score: float
    link_strength: Scores
    """0..1; of a named thing to the fourth power, 0 without a link."""
    answered: Scores

    @property
    def total(self) -> Scores:
        return self.weight * self.entity_score * self.link_strength * self.answered


@dataclass(frozen=True)
class EntityCredit:
    choice: EntityChoice

    def parent_scores(self, rows: Rows | slice, relevance: Scores) -> Scores:
        """Return the parent scores of some documents, given the relevance of each; shape (n,).

        `slice(None)` stands for all documents, of which only those with a link have credit.
        """
        if not self.choice.counted:
            return np.zeros(len(relevance))
        if isinstance(rows, slice):
            parents, linked = np.zeros(len(relevance)), self._linked_rows
            parents[linked] = self.parent_scores(linked, relevance[linked])
            return parents
        totals = [credit.total for credit in self.credits(rows, relevance)]
        combined = sum if self.choice.is_coverage else np.maximum.reduce
        return np.minimum(combined(totals), 1.0)

    def credits(self, rows: Rows | slice, relevance: Scores) -> Sequence[Credit]:
        choice, topic = self.choice, self.choice.topic
        strengths = [_strengths(*links, rows, relevance) for links in self._links]
        for_people = for_things = np.ones(len(relevance))
        if topic is not None:
            things = [s for s, is_thing in zip(strengths, self._is_thing, strict=True) if is_thing]
            strongest = np.maximum.reduce(things) if things else np.zeros(len(relevance))
            for_people = topic.for_people(relevance, strongest)
            for_things = topic.for_things(relevance)
        return [
            Credit(
                weight=weight,
                entity_score=choice.entity_score(index),
                link_strength=power(strength, THING_SHARPNESS) if is_thing else strength,
                answered=for_things if is_thing else for_people,
            )
            for index, strength, is_thing, weight in zip(
                choice.counted, strengths, self._is_thing, self._weights, strict=True
            )
        ]

    @cached_property
    def people(self) -> Sequence[int]:
        """Those of `counted` that are people or teams which the query names."""
        if not self.choice.is_coverage:
            return []
        counted = zip(self.choice.counted, self._is_thing, strict=True)
        return [index for index, is_thing in counted if not is_thing]

    @property
    def documents_of_thing(self) -> int:
        """Number of documents linked to a named thing, of several to the one with the fewest."""
        counted = zip(self.choice.counted, self._is_thing, strict=True)
        links = [self.choice.evidence.links[index] for index, is_thing in counted if is_thing]
        return min((len(linked.all_in_scope) for linked in links), default=0)

    @property
    def documents_of_people(self) -> int:
        """Number of documents linked to at least one of `people`."""
        links = [self.choice.evidence.links[index].all_in_scope for index in self.people]
        return len(reduce(np.union1d, links)) if links else 0

    @cached_property
    def belongs_to_people(self) -> Flags:
        """Whether each document is linked to one of `people`."""
        linked = np.zeros(len(self.choice.evidence), np.bool_)
        for links in (self.choice.evidence.links[index] for index in self.people):
            linked[links.rows[links.strengths > 0.0]] = True
        return linked

    @cached_property
    def _is_thing(self) -> Sequence[bool]:
        entities, scaled = self.choice.evidence.entities, self.choice.tuning.scale_by_topic
        return [scaled and entities[index].is_named_thing for index in self.choice.counted]

    @cached_property
    def _weights(self) -> Sequence[float]:
        if not self.choice.is_coverage:
            return [1.0] * len(self.choice.counted)
        weights = [THING_WEIGHT if is_thing else 1.0 for is_thing in self._is_thing]
        return [weight / sum(weights) for weight in weights]

    @cached_property
    def _linked_rows(self) -> Rows:
        linked = np.zeros(len(self.choice.evidence), np.bool_)
        for index in self.choice.counted:
            linked[self.choice.evidence.links[index].rows] = True
        return np.flatnonzero(linked)

    @cached_property
    def _links(self) -> Sequence[tuple[Scores, Flags | None]]:
        evidence, uniform = self.choice.evidence, self.choice.tuning.uniform_links
        links = []
        for linked in (evidence.links[index] for index in self.choice.counted):
            strength, propagated = np.zeros(len(evidence)), None
            strength[linked.rows] = 1.0 if uniform else linked.strengths
            if linked.propagated is not None and not uniform:
                propagated = np.zeros(len(evidence), np.bool_)
                propagated[linked.rows] = linked.propagated
            links.append((strength, propagated))
        return links


def _strengths(
    strength: Scores, propagated: Flags | None, rows: Rows | slice, relevance: Scores
) -> Scores:
    if propagated is None:
        return strength[rows]
    return np.where(propagated[rows] & (relevance <= 0.0), 0.0, strength[rows])
