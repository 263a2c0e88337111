"""All that retrieval found for one query, immutable. Ranking it needs no I/O.

Rows are documents: every document in scope has one, in path order, so a score never depends on
which other candidates were fetched. Arrays have shape (n,) over these rows and are read-only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.tuning import Tuning

Scores = NDArray[np.float64]
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]

Array = TypeVar("Array", bound=NDArray[Any])


def frozen(array: Array) -> Array:
    """Return the array, which nobody can write to any more."""
    array.flags.writeable = False
    return array


SignalKind = Literal[
    "name", "alias", "surname", "first_name", "fuzzy", "role", "team", "fact", "meaning"
]


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason why an entity fits the query."""

    kind: SignalKind
    score: float
    """0..1."""
    detail: str
    """What matched, in the words of the document or query."""
    ambiguous: bool = False
    """True when the same words of the query name others as well."""


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that pass 1 found."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty."""
    score: float
    """0..1, the documented merger of the signals; 0 when it was only asked for."""
    named: bool
    """True when the query names it and no other: outright (score 1.0), or with a typo."""
    signals: tuple[Signal, ...]
    """Strongest first; none when pass 1 did not find it and it was asked for by its id."""

    @property
    def found(self) -> bool:
        """True when pass 1 found it; such an entity has signals."""
        return bool(self.signals)


@dataclass(frozen=True, slots=True)
class LinkedDocuments:
    """The documents in scope that belong to one entity."""

    rows: Rows
    """Rows of Evidence, ascending, without repetition."""
    strengths: Scores
    """`link_strength` of each, 0..1."""
    reasons: tuple[str, ...]
    """Why, for people: `attendee`, `title, 4 mentions`."""
    lent: Flags | None = None
    """Those that are not the entity's, only a part beside them is; None: no document."""

    def within(self, in_scope: Flags, kept: Rows) -> LinkedDocuments:
        """Return those in scope, with rows counted among `kept`, the ascending rows in scope."""
        inside = in_scope[self.rows]
        rows = np.searchsorted(kept, self.rows[inside])
        reasons = tuple(compress(self.reasons, inside))
        lent = None if self.lent is None else frozen(self.lent[inside])
        return LinkedDocuments(frozen(rows), frozen(self.strengths[inside]), reasons, lent)

    def strengths_for(self, relevance: Scores) -> Scores:
        """Return the strengths, given how relevant each document of the Evidence is.

        What is lent to a document counts where it says something of what was asked for.
        """
        if self.lent is None:
            return self.strengths
        return np.where(self.lent & (relevance[self.rows] <= 0.0), 0.0, self.strengths)


@dataclass(frozen=True, slots=True)
class ComponentScores:
    """How well each document fits one wording of the query."""

    query: str
    raw_lexical: Scores
    """BM25, unbounded, 0 when no term matches."""
    lexical: Scores
    """`raw_lexical` on a fixed 0..1 scale."""
    cosine: Scores
    """Likeness of the best chunk in its place (`vector_matrix`) to the query, drawn to what fits
    it best, -1..1; NaN where the document has no vector (yet). Of one that
    was not compared (`Evidence.evaluated`), what rounded vectors say."""
    vector: Scores
    """`cosine` on a fixed 0..1 scale, 0 where there is none, or too little and no word matches."""
    own_relevance: Scores
    """Their fusion, 0..1."""
    doc_relevance: Scores
    """`own_relevance` and what a part beside it lends (`continuations`), 0..1."""
    lenders: NDArray[np.int8]
    """Which part that was: 0 the one before, 1 the one after, -1 none."""
    lexical_weight: float
    """Share of `lexical` in `own_relevance`; the rest is `vector`'s."""


@dataclass(frozen=True, slots=True)
class FeedbackDocument:
    """A document that drew the meaning of the query to itself (`pseudo_relevance_feedback`)."""

    path: str
    title: str


FilterUse = Literal["", "prefilter"]
"""How a pipeline kept to the scope: there was none, or before it ranked anything."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a query may return, and how that was decided."""

    path: str
    """Path filter as given, empty for all."""
    doc_types: tuple[str, ...]
    in_scope: int
    total: int
    clause: str
    """The path, kinds and dates as a where clause for the tables, empty when there are none. It may
    let in more than they do; what is searched is in memory and needs none."""
    words: FilterUse = ""
    vectors: FilterUse = ""
    """Only documents in scope are scored."""
    complete: bool = True
    """True when every document in scope was compared: none was left out by a limit."""
    since: str = ""
    until: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    """The other filters, as given: `filters`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything `rank` needs."""

    query: str
    document_query: str
    """What pass 2 searches with: the query without names of people and teams named outright."""
    generation: int
    """Generation of the index that was read."""
    scope: Scope
    entities: tuple[EntityCandidate, ...]
    """Best first, at most 20, whatever the threshold; then those only asked for."""
    links: tuple[LinkedDocuments, ...]
    """Parallel to `entities`."""
    paths: tuple[str, ...]
    titles: tuple[str, ...]
    dates: tuple[str, ...]
    kinds: tuple[str, ...]
    as_typed: ComponentScores
    as_searched: ComponentScores
    """For `document_query`; the same object as `as_typed` when the wordings are equal."""
    exact: Mapping[int, str]
    """Rows that are all the query asks for, and how: `title`, `path`, `id`, `date`, or `name` for
    the page of an entity."""
    hotness: Scores
    """How often and how lately each document was opened, 0..1."""
    fast: bool
    """True when neither vectors nor entities were asked for."""
    vector_share: float
    """Share of the chunks in the index that have a vector, 0..1."""
    timings: Mapping[str, float]
    """Milliseconds per stage."""
    evaluated: Flags | None = None
    """Documents whose meaning was compared, where one ranking was asked for; None: all."""
    stopped_by: str = "all"
    """Why no more were: `all` compared, `exact`, `stable` (`convergence`)."""
    only_for: Tuning | None = None
    """The one tuning that may rank it, None: any. Links of entities it cannot keep are left out."""
    drawn_to: tuple[FeedbackDocument, ...] = ()
    """What drew the meaning of the query as typed, best first; it may lie out of scope. None where
    nothing did: no document holds a word, `[search] feedback` is 0, or it was not needed."""

    def __len__(self) -> int:
        return len(self.paths)
