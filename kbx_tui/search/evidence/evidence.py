"""Everything that retrieval found for one query, immutable. Ranking it needs no I/O. Pure.

Rows are documents: every document in scope has one, in path order, so a score never depends on
which other candidates were retrieved. In a scope too wide to compare all its chunks in meaning,
only the candidates have one (`Scope.candidates`). Arrays have shape (n,) over these rows and are
read-only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.reranking import RerankerScores
from kbx_tui.search.evidence.scores import (
    ANSWER_POWER,
    DATE_ALONE_WEIGHT,
    DATE_COUNTS_FROM,
    THING_SHARPNESS,
    ComponentScores,
    Flags,
    LinkedDocuments,
    Rows,
    Scores,
    power,
)
from kbx_tui.search.request import Filters, Tuning

SignalKind = Literal[
    "name", "alias", "surname", "first_name", "fuzzy", "role", "team", "fact", "meaning"
]


@dataclass(frozen=True, slots=True)
class Signal:
    kind: SignalKind
    score: float
    """0..1."""
    detail: str
    ambiguous: bool = False
    """True when the same words of the query name other entities too."""
    taught: str = ""
    """What the base says of a word that is also a name: `a word here, 97 %`; often nothing."""


PEOPLE = frozenset({"person", "team"})
"""Types of entities that a query names to say whose documents it wants. Entities of other types are
things: a query names them because it is about them."""


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    id: str
    name: str
    type: str
    path: str
    """Path of the entity's page; empty without one."""
    score: float
    """0..1, combined from the signals (`entity_pass`); 0 when it is only pinned."""
    named: bool
    """True when the query names it and no other entity, exactly or with a typo."""
    signals: tuple[Signal, ...]
    """Strongest first; empty when it is only pinned."""

    @property
    def found(self) -> bool:
        return bool(self.signals)

    @property
    def is_named_thing(self) -> bool:
        return self.named and self.type not in PEOPLE


@dataclass(frozen=True, slots=True)
class FeedbackDocument:
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class UnknownName:
    name: str
    similar: str
    speaks: bool = False
    """Whether a speaker was asked for by this name, rather than an entity."""
    pages: tuple[str, ...] = ()
    """Paths of some pages that the similar name is from."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a query asks besides people and teams, and how fully documents answer it.

        share = min(1, relevance / full relevance)
        answered = share ** 1.5

    The full relevance is that of a document of average length that holds every word of the topic
    two or three times and has a cosine of .5. It depends on the query and the base only, not on
    what else was found. The power keeps documents apart that mention the topic and that are about
    it.

    Where the topic is the name of a thing, such as a project, the link between document and thing
    tells more than the words: many documents mention a project in passing, few are about it.
    """

    full_relevance: float
    thing_share: float = 0.0
    """Share of the topic, by how rare its words are, that is names of things; 0..1."""
    documents: int = 0
    """How many documents in scope hold the rarest of its words that names no thing; 0 without one,
    and where the query names nobody."""
    is_common: bool = False
    """True if documents hold some of its words and all are common in English, as `last time`."""

    def answered(self, relevance: Scores) -> Scores:
        return power(self._share(relevance), ANSWER_POWER)

    def for_people(self, relevance: Scores, thing_strength: Scores) -> Scores:
        """Return the factor of the credit of people and teams, 0..1, for each document.

        For the part of the topic that names things, the factor is the higher of the share of a full
        answer and `thing_strength`, the strength of the link to such a thing, to the fourth power;
        for the rest it is the square root of `answered`.
        """
        rest = self._rest(relevance)
        if not self.thing_share:
            return rest
        things = power(np.maximum(self._share(relevance), thing_strength), THING_SHARPNESS)
        return self.thing_share * things + (1.0 - self.thing_share) * rest

    def for_things(self, relevance: Scores) -> Scores:
        """Return the factor of the credit of a thing, 0..1, for each document.

        Its link answers the part of the topic that names things; the rest has to be answered.
        """
        return self.thing_share + (1.0 - self.thing_share) * self._rest(relevance)

    def _rest(self, relevance: Scores) -> Scores:
        """Return the factor of credit for the part of the topic that names no things, 0..1."""
        return np.sqrt(self.answered(relevance))

    def _share(self, relevance: Scores) -> Scores:
        return np.minimum(relevance / self.full_relevance, 1.0)


class DateMatch(IntEnum):
    NONE = 0
    AROUND = 1
    NAMED = 2
    DATED = 3


_SHARES = np.array([0.0, 0.25, 1.0, 1.0])
"""Share of each `DateMatch` that a document is of the time asked for."""

_REASONS = {
    DateMatch.AROUND: "of a longer time around that",
    DateMatch.NAMED: "its title or path names that time",
    DateMatch.DATED: "of that time",
}


@dataclass(frozen=True, slots=True)
class PreferredDates:
    text: str
    """As typed: `in March`."""
    first: str
    last: str
    """First and last day, ISO, inclusive; empty for an open end."""
    words: str


@dataclass(frozen=True, slots=True)
class DatePreference:
    """The time that a query asks for (`in March`, `last week`), and which documents are of it.

        dated relevance = (1 - w) * relevance + w * share * max(relevance, full)

    with the share of a document that is of that time: 1 if it is dated in the period, or if its
    title or path names it, a quarter if it is of a longer time, as a year for a month, else 0; and
    with the relevance of a full answer (`Topic`). A two-pass ranking counts no relevance above
    that. So the time weighs as much as w of a full answer. It counts in full from a quarter of a
    full answer, and below in proportion, unless people that the query names are linked to the
    document:

    - a document of that time never loses by the preference, whatever it says;
    - a document of another time keeps 1 - w of its relevance, and a full answer among these comes
      before a document of that time that says nothing of the topic, because w is below .5.

    Where the query asks for people and nothing else, the time is the topic: all that a document of
    another time scores is lowered by `DATE_ALONE_WEIGHT`.
    """

    dates: tuple[PreferredDates, ...]
    matches: NDArray[np.int8]
    """`DateMatch` of each document in scope, shape (n,)."""
    full_relevance: float | None
    """Relevance of a full answer, 0..1; None where the query asks only for people."""
    weight: float
    """Weight of the time in the relevance, `w` above: at least 0, below .5."""
    is_filter: bool = False
    """Whether only documents dated in the periods, and between them, are in scope."""

    @property
    def words(self) -> str:
        return " or ".join(dict.fromkeys(dates.words for dates in self.dates))

    @property
    def applies(self) -> bool:
        """Whether any document in scope is of that time; otherwise all scores would fall alike."""
        return bool(self.matches.any())

    def relevance(
        self, relevance: Scores, rows: Rows | slice, *, capped: bool, alone: bool = True
    ) -> Scores:
        """Return the dated relevance of some rows, given their relevance; both shape (n,).

        With `capped`, no relevance above that of a full answer counts. `alone` is for documents
        that must answer the query by themselves, False for those linked to people it names.
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
        """Return the share of one row's dated relevance that is not due to the time, 0..1.

        It is 1 where the time is the topic, which then only scales the relevance, and 0 for a
        document without relevance.
        """
        own = float(relevance[0])
        if self.full_relevance is None or not own:
            return float(own > 0.0)
        dated = float(self.relevance(relevance, rows, capped=capped)[0])
        return (1.0 - self.weight) * (min(own, self.full_relevance) if capped else own) / dated

    def credit_factors(self, rows: Rows | slice) -> Scores:
        """Return the factors by which the time scales the parent scores of some rows, shape (n,).

        They are 1 where the time is not the topic: credit depends on the dated relevance already.
        """
        factors = self._lowered(rows)
        return factors if self.full_relevance is None else np.ones_like(factors)

    def reason(self, row: int, date: str) -> str:
        """Return in words whether a document with this date, perhaps empty, is of the time."""
        factor = float(self._lowered(np.array([row]))[0])
        words = _REASONS.get(DateMatch(self.matches[row]), "of another time" if date else "undated")
        if self.full_relevance is not None or factor == 1.0:
            return words
        return f"{words}: × {format_score(factor)}"

    def _share(self, rows: Rows | slice) -> Scores:
        return _SHARES[self.matches[rows]]

    def _lowered(self, rows: Rows | slice) -> Scores:
        return 1.0 - DATE_ALONE_WEIGHT * (1.0 - self._share(rows))


@dataclass(frozen=True, slots=True)
class AskedSpeaker:
    """Who a query asks for what they said (`retrieval/speakers.py`)."""

    names: tuple[str, ...]
    """Ids of people, or names of speakers."""
    shown: str
    topic: str
    """What they are asked for: the query without their names, and without its verb."""
    by_filter: bool = False
    """Whether a filter asks for their turns, whatever these say."""


@dataclass(frozen=True, slots=True)
class AskedKind:
    """The kind of document that a query asks for, beside its topic.

    What a document of another kind scores is lowered by a factor.
    """

    words: str
    """`people`, `meetings`, `the newest`, `what Dana says`."""
    factors: Scores
    """Shape (n,), above 0 and at most 1."""
    speaker: AskedSpeaker | None = None
    speaks: Flags | None = None
    """Shape (n,): documents in which the speaker has a turn; None without one."""
    is_for_news: bool = False
    """Whether the newest passages are asked for, too: `what is new with Ada`."""

    def at(self, rows: Rows) -> AskedKind:
        speaks = None if self.speaks is None else self.speaks[rows]
        return replace(self, factors=self.factors[rows], speaks=speaks)

    def reason(self, row: int) -> str:
        factor = format_score(float(self.factors[row]))
        if self.speaker is not None and self.speaks is not None and self.speaks[row]:
            return f"{self.speaker.shown} speaks here: × {factor}"
        return "" if factor == format_score(1.0) else f"asked for {self.words}: × {factor}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents a query may return: the filters, and how many documents pass them."""

    path: str
    """Path filter as given, empty for all."""
    filters: Filters
    in_scope: int
    total: int
    candidates: int | None = None
    """How many of them were scored, in a scope too wide to compare every chunk in meaning
    (`WideScope`); None: all."""
    recall: float = 1.0
    """Where `candidates` is given: the share of the ten best chunks by meaning that such a search
    finds, measured on a sample when the index was built."""
    asked_about: frozenset[str] = frozenset()
    """Paths of documents beside the candidates, scored because `SearchRequest.also` has them."""
    unknown_names: tuple[UnknownName, ...] = ()
    unmatched_phrases: tuple[str, ...] = ()
    """Words in quotation marks that no document has one after the other, as typed."""
    left_out: int = 0
    """Documents that pass the other filters and are muted."""
    emptied_by: int | None = None
    """Number, from 0, of the typed filter that matches none of what those before it match."""

    @property
    def complete(self) -> bool:
        return self.candidates is None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything retrieved for one query: the input of `rank`."""

    query: str
    """As typed; its first `MAX_QUERY` characters were searched for."""
    document_query: str
    """Query of pass 2: what was searched for, without people and teams named outright."""
    generation: int
    scope: Scope
    entities: tuple[EntityCandidate, ...]
    """At most 20 found by pass 1, best first, whatever the threshold; then those only pinned."""
    links: tuple[LinkedDocuments, ...]
    """Parallel to `entities`."""
    paths: Sequence[str]
    titles: Sequence[str]
    dates: Sequence[str]
    kinds: Sequence[str]
    as_typed: ComponentScores
    as_searched: ComponentScores
    """For `document_query`; the same object as `as_typed` if both queries are equal."""
    topic: Topic | None
    """What the query asks besides people and teams; None if it names them and asks nothing else."""
    known_items: Mapping[int, str]
    """Rows of the documents that the query names in full (known-item search), and by what: `title`,
    `path`, `id`, `date`, `filter`, or `name` or `role` for the page of an entity."""
    frecency: Scores
    """How often and how recently each document was opened, 0..1."""
    fast: bool
    """True when neither vectors nor entities were used."""
    vector_share: float
    """Share of the texts that can be found by meaning, 0..1; 0 for a search without vectors."""
    timings: Mapping[str, float]
    evaluated: Flags | None = None
    """Documents with exact cosines, after top-k retrieval; None: all."""
    stopped_by: str = "all"
    """Why top-k retrieval stopped: `all` evaluated, `exact`, `stable` (`document_pass`)."""
    only_for: Tuning | None = None
    """The only tuning that may rank it, None: any. Entities that it cannot keep have no links."""
    feedback_documents: tuple[FeedbackDocument, ...] = ()
    """Documents that the vector of the query as typed was moved towards, best first, in scope or
    not. Empty if no document holds a term, `[search] feedback` is 0, or the vector was not used."""
    without_vector: int = 0
    reranker: RerankerScores | None = None
    date_preference: DatePreference | None = None
    """The dates that the query asks for; None if it holds none, or dates are not read."""
    asked_kind: AskedKind | None = None
    undated: tuple[str, ...] = ()
    """Dates that the query asks for, in words, on which no document of the base is dated."""
    listed: str = ""
    """What is listed in place of documents that say a word of the query, for a note."""
    lists_missing: bool = False
    corrections: tuple[tuple[str, str], ...] = ()
    """Words of the query that no document holds, as typed, and what was searched for instead."""
    age_factors: Scores | None = None
    """Factor of each score for the age of the document; None if age does not count."""
    misspelt: tuple[tuple[str, str], ...] = ()
    """Words that look like filters but filter by nothing, and what is likely meant, if known."""

    def __len__(self) -> int:
        return len(self.paths)
