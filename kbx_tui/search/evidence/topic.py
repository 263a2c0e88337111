"""How fully documents answer the topic of a query: what it asks besides people and teams. Pure.

    share = min(1, relevance / full relevance)
    answered = share ** 1.5

where the full relevance is that of a document of average length that holds every word of the topic
two or three times and has a cosine of .5. It depends on the query and the base only, not on what
else was found. The power keeps documents apart that mention the topic and that are about it.

A topic whose words are in many documents tells little, so credit depends less on how fully they
answer it (`Topic.weight`).

Where the topic is the name of a thing, such as a project, the link between document and thing tells
more than the words: many documents mention a project in passing, few are about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kbx_tui.search.evidence.powers import power
from kbx_tui.search.evidence.score_normalization import ANSWER_POWER, THING_SHARPNESS

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Scores


@dataclass(frozen=True, slots=True)
class Topic:
    """The topic of one query."""

    full_relevance: float
    """Relevance from which a document answers the topic fully, above 0."""
    thing_share: float = 0.0
    """Share of the topic, by how rare its words are, that is names of things; 0..1."""
    weight: float = 1.0
    """How much the topic tells, above 0 and at most 1: less than 1 if many documents hold its
    words, as `programming` in a base on computers. Then credit depends less on the answer."""

    def answered(self, relevance: Scores) -> Scores:
        """Return how fully documents of some relevance answer the topic, 0..1; 0 for none."""
        return power(self._share(relevance), ANSWER_POWER)

    def for_people(self, relevance: Scores, thing_strength: Scores) -> Scores:
        """Return the factor of the credit of people and teams, 0..1, for each document.

        Of the part of the topic that is names of things, it is the higher of the share and
        `thing_strength`, the strength of the link to such a thing, to the fourth power; of the rest
        the square root of `answered`.
        """
        rest = self._rest(relevance)
        if not self.thing_share:
            return rest
        things = power(np.maximum(self._share(relevance), thing_strength), THING_SHARPNESS)
        return self.thing_share * things + (1.0 - self.thing_share) * rest

    def for_things(self, relevance: Scores) -> Scores:
        """Return the same for the credit of a thing, whose own name needs no answer."""
        return self.thing_share + (1.0 - self.thing_share) * self._rest(relevance)

    def _rest(self, relevance: Scores) -> Scores:
        """Return how far credit counts by what documents say, not by the things they link to.

        0 for those that say nothing, whatever the weight of the topic.
        """
        answered = np.sqrt(self.answered(relevance))
        if self.weight == 1.0:
            return answered
        return np.where(relevance > 0.0, 1.0 - self.weight * (1.0 - answered), 0.0)

    def _share(self, relevance: Scores) -> Scores:
        return np.minimum(relevance / self.full_relevance, 1.0)
