"""What the entities of a ranking add to the scores of documents. Pure.

    credit = weight * entity_score * link_strength * answered

for each counted entity, where `answered` is how fully the document answers what the query asks
besides people and teams (`topic`), 1 where it asks nothing else. The credits of entities that the
query names are summed, their weights being shares of 1; of others the highest counts. Credit never
falls when relevance, a link strength or an entity score rises.

Things that the query names count a little less than people, and their link strength is raised to
the fourth power: a passing mention hardly counts. Without `Tuning.scale_by_topic`, `answered` is 1
and things count as people do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kbx_tui.search.evidence.evidence import Flags, LinkedDocuments, Rows, Scores
from kbx_tui.search.evidence.powers import power
from kbx_tui.search.evidence.score_normalization import THING_SHARPNESS, THING_WEIGHT
from kbx_tui.search.ranking.kept_entities import EntityChoice


@dataclass(frozen=True, slots=True)
class Credit:
    """What one entity adds to some documents; arrays have shape (n,) over these."""

    weight: float
    """Its share of the mean over the named entities; 1 where the highest credit counts."""
    entity_score: float
    link_strength: Scores
    """0..1; of a named thing to the fourth power, 0 without a link."""
    answered: Scores
    """How fully each document answers the rest of the query, 0..1."""

    @property
    def total(self) -> Scores:
        """The credit of each document."""
        return self.weight * self.entity_score * self.link_strength * self.answered


@dataclass(frozen=True)
class EntityCredit:
    """Computes the credits of the counted entities of one ranking."""

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
        """Return the credit of each counted entity for some documents."""
        choice, topic = self.choice, self.choice.topic
        strengths = [links.strengths(rows, relevance) for links in self._links]
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
    def _is_thing(self) -> Sequence[bool]:
        """Whether each counted entity is a thing that the query names."""
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
    def _links(self) -> Sequence[_Links]:
        evidence, uniform = self.choice.evidence, self.choice.tuning.uniform_links
        return [
            _Links.of(evidence.links[index], len(evidence), uniform=uniform)
            for index in self.choice.counted
        ]


@dataclass(frozen=True, slots=True)
class _Links:
    """The links of one entity by row of the Evidence."""

    strength: Scores
    propagated: Flags | None

    @classmethod
    def of(cls, linked: LinkedDocuments, size: int, *, uniform: bool) -> _Links:
        strength, propagated = np.zeros(size), None
        strength[linked.rows] = 1.0 if uniform else linked.strengths
        if linked.propagated is not None and not uniform:
            propagated = np.zeros(size, np.bool_)
            propagated[linked.rows] = linked.propagated
        return cls(strength, propagated)

    def strengths(self, rows: Rows | slice, relevance: Scores) -> Scores:
        """Return the strengths for some rows; a propagated link needs some relevance."""
        strength = self.strength[rows]
        if self.propagated is None:
            return strength
        return np.where(self.propagated[rows] & (relevance <= 0.0), 0.0, strength)
