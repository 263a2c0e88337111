"""Everything that retrieval found for one query, immutable. Ranking it needs no I/O.

Rows are documents: every document in scope has one, in path order, so a score never depends on
which other candidates were retrieved. In a scope too wide to compare all its chunks in meaning,
only the candidates have one (`Scope.candidates`). Arrays have shape (n,) over these rows and are
read-only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.reranking import RerankerScores
from kbx_tui.search.evidence.scores import Flags, Rows, Scores, frozen
from kbx_tui.search.evidence.topic import DatePreference, Topic
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.query.filters import Filters

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
    """True when the same words of the query name other entities too."""
    taught: str = ""
    """What the base says of a word that is also a name: `a word here, 97 %`; often nothing."""


PEOPLE = frozenset({"person", "team"})
"""Types of entities that a query names to say whose documents it wants. Entities of other types are
things: a query names them because it is about them."""


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that pass 1 found, or that is pinned."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty."""
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
        """True when the query names it and it is neither a person nor a team."""
        return self.named and self.type not in PEOPLE


@dataclass(frozen=True, slots=True)
class LinkedDocuments:
    """The documents in scope that belong to one entity."""

    rows: Rows
    """Rows of the Evidence, ascending and distinct."""
    strengths: Scores
    """`link_strength` of each, 0..1."""
    reasons: tuple[str, ...]
    """Why each is linked, for display: `attendee`, `title, 4 mentions`."""
    propagated: Flags | None = None
    """Documents linked only through an adjacent part (`continuations`); None if there are none.
    Such a link counts only if the document has some relevance to the query."""

    def within(self, in_scope: Flags, scope_rows: Rows) -> LinkedDocuments:
        """Return the documents in scope, renumbered by their positions in `scope_rows`.

        `in_scope` flags documents of the base; `scope_rows` are the rows flagged, ascending.
        """
        inside = in_scope[self.rows]
        rows = np.searchsorted(scope_rows, self.rows[inside])
        reasons = tuple(compress(self.reasons, inside))
        propagated = None if self.propagated is None else frozen(self.propagated[inside])
        return LinkedDocuments(frozen(rows), frozen(self.strengths[inside]), reasons, propagated)


@dataclass(frozen=True, slots=True)
class ComponentScores:
    """How well each document fits one query variant."""

    query: str
    raw_lexical: Scores
    """BM25, unbounded, 0 when no term matches."""
    lexical: Scores
    """`raw_lexical` on a fixed 0..1 scale."""
    cosine: Scores
    """Cosine of the query, after pseudo-relevance feedback, with the best chunk of the document in
    its context (`vector_matrix`), -1..1; NaN for a document without a vector. Approximate, from
    quantized vectors, for a document that was not evaluated (`Evidence.evaluated`)."""
    vector: Scores
    """`cosine` on a fixed 0..1 scale; 0 if missing, or if low and no term matches."""
    own_relevance: Scores
    """Fusion of `lexical` and `vector`, 0..1."""
    doc_relevance: Scores
    """`own_relevance` plus what an adjacent part propagates (`continuations`), 0..1."""
    propagated_from: NDArray[np.int8]
    """Adjacent part that relevance propagated from: 0 the one before, 1 the one after, -1 none."""
    lexical_weight: float
    """Weight of `lexical` in `own_relevance`; that of `vector` is the rest."""


@dataclass(frozen=True, slots=True)
class FeedbackDocument:
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name in a filter that no entity has."""

    name: str
    similar: str
    """The name of the entity that may have been meant; empty if none is similar."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents a query may return: the filters, and how many documents pass them."""

    path: str
    """Path filter as given, empty for all."""
    filters: Filters
    """The other filters."""
    in_scope: int
    """Documents that pass the filters."""
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
    """Names in typed filters that no entity has."""
    left_out: int = 0
    """Documents that pass the other filters and are muted."""

    @property
    def complete(self) -> bool:
        """True when every document in scope was scored."""
        return self.candidates is None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything retrieved for one query: the input of `rank`."""

    query: str
    """As typed; its first `MAX_QUERY` characters were searched for."""
    document_query: str
    """Query of pass 2: what was searched for, without people and teams named outright."""
    generation: int
    """Generation of the index that was read."""
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
    """Milliseconds per stage."""
    evaluated: Flags | None = None
    """Documents with exact cosines, after top-k retrieval; None: all."""
    stopped_by: str = "all"
    """Why top-k retrieval stopped: `all` evaluated, `exact`, `stable` (`convergence`)."""
    only_for: Tuning | None = None
    """The only tuning that may rank it, None: any. Entities that it cannot keep have no links."""
    feedback_documents: tuple[FeedbackDocument, ...] = ()
    """Documents that the vector of the query as typed was moved towards, best first, in scope or
    not. Empty if no document holds a term, `[search] feedback` is 0, or the vector was not used."""
    without_vector: int = 0
    """Number of texts that cannot be found by meaning yet."""
    reranker: RerankerScores | None = None
    """Scores of the reranker, where it was asked for some."""
    date_preference: DatePreference | None = None
    """The dates that the query asks for; None if it holds none, or dates are not read."""
    undated: tuple[str, ...] = ()
    """Dates that the query asks for, in words, on which no document of the base is dated."""
    lists_missing: bool = False
    """True when every chunk was compared because the inverted file for that is missing."""

    def __len__(self) -> int:
        return len(self.paths)
