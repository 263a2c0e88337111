"""How fully documents answer what a query asks: its topic and its time. Pure.

The topic is what a query asks besides people and teams:

    share = min(1, relevance / full relevance)
    answered = share ** 1.5

where the full relevance is that of a document of average length that holds every word of the topic
two or three times and has a cosine of .5. It depends on the query and the base only, not on what
else was found. The power keeps documents apart that mention the topic and that are about it.

A topic whose words are in many documents tells little, so credit depends less on how fully they
answer it (`Topic.weight`).

Where the topic is the name of a thing, such as a project, the link between document and thing tells
more than the words: many documents mention a project in passing, few are about it.

Documents of the time that a query asks for (`in March`, `last week`) are preferred:

    dated relevance = (1 - w) * relevance + w * share * max(relevance, full)

with the share of a document that is of that time: 1 if it is dated in the period, or if its title
or path names it, .5 if it is dated soon after, since August still speaks of July, else 0; and with
the relevance of a full answer. A two-pass ranking counts no relevance above that. So the time
weighs as much as w of a full answer. It counts in full from a quarter of a full answer, and below
in proportion, unless people that the query names are linked to the document:

- a document of that time never loses by the preference, whatever it says;
- a document of another time keeps 1 - w of its relevance, and a full answer among these comes
  before a document of that time that says nothing of the topic, because w is below .5.

Where the query asks for people and nothing else, the time is the topic: all that a document of
another time scores is lowered by `DATE_ALONE_WEIGHT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.scores import (
    ANSWER_POWER,
    DATE_ALONE_WEIGHT,
    DATE_COUNTS_FROM,
    SOON_AFTER_SHARE,
    THING_SHARPNESS,
    Rows,
    Scores,
    power,
)


@dataclass(frozen=True, slots=True)
class Topic:
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


class DateMatch(IntEnum):
    """What makes a document one of the time asked for."""

    NONE = 0
    SOON_AFTER = 1
    NAMED = 2
    DATED = 3


_SHARES = np.array([0.0, SOON_AFTER_SHARE, 1.0, 1.0])

_REASONS = {
    DateMatch.SOON_AFTER: "soon after that time",
    DateMatch.NAMED: "its title or path names that time",
    DateMatch.DATED: "of that time",
}


@dataclass(frozen=True, slots=True)
class PreferredDates:
    """Date words of a query, and the period that they mean."""

    text: str
    """As typed: `in March`."""
    first: str
    last: str
    """First and last day, ISO, inclusive; empty for an open end."""
    words: str
    """The period in words: `March 2026`."""


@dataclass(frozen=True, slots=True)
class DatePreference:
    """The dates that a query asks for, and which documents are of that time."""

    dates: tuple[PreferredDates, ...]
    """At least one; a document of any of these periods is preferred."""
    matches: NDArray[np.int8]
    """`DateMatch` of each document in scope, shape (n,)."""
    full_relevance: float | None
    """Relevance of a full answer, 0..1; None where the query asks only for people."""
    weight: float
    """How much the time weighs, 0 up to .5."""
    is_filter: bool = False
    """Whether only documents dated in the periods, and between them, are in scope."""

    @property
    def words(self) -> str:
        """The periods in words: `March 2025 or April 2025`."""
        return " or ".join(dict.fromkeys(dates.words for dates in self.dates))

    @property
    def applies(self) -> bool:
        """Whether any document in scope is of that time; otherwise all scores would fall alike."""
        return bool(self.matches.any())

    def relevance(
        self, relevance: Scores, rows: Rows | slice, *, capped: bool, alone: bool = True
    ) -> Scores:
        """Return the dated relevance of some rows, given their relevance; both shape (n,).

        `capped` counts no relevance above that of a full answer. With `alone` the document has to
        answer something: see above. Without, it is that of documents of people the query names.
        """
        full = self.full_relevance
        if full is None:
            return relevance * self._lowered(rows)
        own = np.minimum(relevance, full) if capped else relevance
        gained = self._share(rows) * np.maximum(own, full)
        if alone and full:  # 0 where no document holds a word of the query
            gained *= np.minimum(own / (DATE_COUNTS_FROM * full), 1.0)
        return (1.0 - self.weight) * own + self.weight * gained

    def own_share(self, relevance: Scores, rows: Rows, *, capped: bool) -> float:
        """Return which part of the dated relevance of one row is not the time's, 0..1.

        All of it where the time is the topic: it then scales what the document has, and adds
        nothing. 0 for a document without relevance.
        """
        own = float(relevance[0])
        if self.full_relevance is None or not own:
            return float(own > 0.0)
        dated = float(self.relevance(relevance, rows, capped=capped)[0])
        return (1.0 - self.weight) * (min(own, self.full_relevance) if capped else own) / dated

    def credit_factors(self, rows: Rows | slice) -> Scores:
        """Return what is left of the entities' part of the score of some rows, shape (n,).

        All of it, unless the time is the topic: it depends on the dated relevance already.
        """
        factors = self._lowered(rows)
        return factors if self.full_relevance is None else np.ones_like(factors)

    def reason(self, row: int, date: str) -> str:
        """Return whether a document with this date, perhaps empty, is of the time asked for.

        With the factor of its score where the time is the topic: `of another time: × .25`.
        """
        factor = float(self._lowered(np.array([row]))[0])
        words = _REASONS.get(DateMatch(self.matches[row]), "of another time" if date else "undated")
        if self.full_relevance is not None or factor == 1.0:
            return words
        return f"{words}: × {format_score(factor)}"

    def _share(self, rows: Rows | slice) -> Scores:
        return _SHARES[self.matches[rows]]

    def _lowered(self, rows: Rows | slice) -> Scores:
        return 1.0 - DATE_ALONE_WEIGHT * (1.0 - self._share(rows))
