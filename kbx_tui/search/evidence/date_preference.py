"""The preference for documents of the time that a query asks for (`in March`, `last week`). Pure.

    dated relevance = (1 - w) * relevance + w * share * max(relevance, full)

with the share of a document that is of that time: 1 if it is dated in the period, or if its title
or path names it, .5 if it is dated soon after, since August still speaks of July, else 0; and with
the relevance of a full answer (`topic`). A two-pass ranking counts no relevance above that. So the
time weighs as much as w of a full answer. It counts in full from a quarter of a full answer, and
below in proportion, unless people that the query names are linked to the document:

- a document of that time never loses by the preference, whatever it says;
- a document of another time keeps 1 - w of its relevance, and a full answer among these comes
  before a document of that time that says nothing of the topic, because w is below .5.

Where the query asks for people and nothing else, the time is the topic: all that a document of
another time scores is lowered by `DATE_ALONE_WEIGHT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.score_normalization import (
    DATE_ALONE_WEIGHT,
    DATE_COUNTS_FROM,
    SOON_AFTER_SHARE,
)

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Rows, Scores


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
