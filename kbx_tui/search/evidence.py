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

Scores = NDArray[np.float64]
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]

Array = TypeVar("Array", bound=NDArray[Any])


def frozen(array: Array) -> Array:
    """Return the array, which nobody can write to any more."""
    array.flags.writeable = False
    return array


SignalKind = Literal["name", "alias", "first_name", "fuzzy", "role", "team", "fact", "meaning"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason why an entity fits the query."""

    kind: SignalKind
    score: float
    """0..1."""
    detail: str
    """What matched, in the words of the document or query."""


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that pass 1 found."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty."""
    score: float
    """0..1, the documented merger of the signals."""
    named: bool
    """True when the query names it outright (score 1.0)."""
    signals: tuple[Signal, ...]
    """Strongest first."""


@dataclass(frozen=True, slots=True)
class LinkedDocuments:
    """The documents in scope that belong to one entity."""

    rows: Rows
    """Rows of Evidence, ascending, without repetition."""
    strengths: Scores
    """`link_strength` of each, 0..1."""
    reasons: tuple[str, ...]
    """Why, for people: `attendee`, `title, 4 mentions`."""

    def within(self, in_scope: Flags, kept: Rows) -> LinkedDocuments:
        """Return those in scope, with rows counted among `kept`, the ascending rows in scope."""
        inside = in_scope[self.rows]
        rows = np.searchsorted(kept, self.rows[inside])
        reasons = tuple(compress(self.reasons, inside))
        return LinkedDocuments(frozen(rows), frozen(self.strengths[inside]), reasons)


@dataclass(frozen=True, slots=True)
class ComponentScores:
    """How well each document fits one wording of the query."""

    query: str
    raw_lexical: Scores
    """BM25, unbounded, 0 when no term matches."""
    lexical: Scores
    """`raw_lexical` on a fixed 0..1 scale."""
    cosine: Scores
    """Cosine of the best chunk, -1..1; NaN where the document has no vector (yet)."""
    vector: Scores
    """`cosine` on a fixed 0..1 scale, 0 where there is none."""
    doc_relevance: Scores
    """Their fusion, 0..1."""
    lexical_weight: float
    """Share of `lexical` in `doc_relevance`; the rest is `vector`'s."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a query may return, and how that was decided."""

    path: str
    """Path filter as given, empty for all."""
    doc_types: tuple[str, ...]
    in_scope: int
    total: int
    clause: str
    """The where clause the words were searched under, empty when none.

    Vectors are compared in memory, all of them, and those of the same documents are taken.
    """


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
    """Best first, at most 20, whatever the threshold."""
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
    """Rows whose title, path or id the query is, and which of the three."""
    hotness: Scores
    """How often and how lately each document was opened, 0..1."""
    fast: bool
    """True when neither vectors nor entities were asked for."""
    vector_share: float
    """Share of the chunks in the index that have a vector, 0..1."""
    timings: Mapping[str, float]
    """Milliseconds per stage."""

    def __len__(self) -> int:
        return len(self.paths)
