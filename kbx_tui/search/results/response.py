"""The response of a search, named as in its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the app is painted before numpy is loaded
    from kbx_tui.search.evidence.date_preference import PreferredDates


@dataclass(frozen=True, slots=True)
class Snippet:
    """The passage of a document that fits the query best."""

    text: str
    """At most 200 characters on one line."""
    matches: tuple[tuple[int, int], ...]
    """Spans of `text` that match a word of the query, in order."""
    heading: str
    line_start: int
    line_end: int
    """1-based lines of the file."""
    terms: tuple[tuple[str, int], ...]
    """Words of the query found in the document, and how often."""
    is_cut: bool = False
    """Whether `text` ends in the middle of a sentence."""
    line_breaks: tuple[int, ...] = ()
    """Where in `text` each further line of the file begins; the first is `line_start`."""
    redacted: tuple[tuple[int, int], ...] = ()
    """Spans of `text` that are redacted, where that was looked up."""


@dataclass(frozen=True, slots=True)
class PassOneEntity:
    """A row of `meta.pass1_entities`."""

    id: str
    name: str
    type: str
    score: float
    path: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One document."""

    path: str
    title: str
    date: str
    doc_type: str
    score: float
    snippet: str
    line: int
    """1-based line of the file where the snippet starts."""
    matches: tuple[tuple[int, int], ...] = ()
    """Spans of `snippet` that match a word of the query, in order."""
    explain: Mapping[str, Any] | None = None
    is_cut: bool = False
    """Whether `snippet` ends in the middle of a sentence."""


@dataclass(frozen=True, slots=True)
class FewAnswers:
    """The few documents that answer a topic, where those follow that are only linked."""

    topic: str
    """What the query asks besides people and teams."""
    paths: tuple[str, ...]
    """Of the documents that say something about the topic."""
    linked: frozenset[str]
    """Those of `paths` that would be results without the topic too."""
    others: int
    """Number of results that are only linked."""
    linked_to: tuple[str, ...]
    """Names of the entities."""
    is_scoped: bool
    """Whether filters exclude documents."""
    is_linked: bool
    """Whether only linked documents are results."""


@dataclass(frozen=True, slots=True)
class SearchMeta:
    """How the search ran, and how many documents it found."""

    search_mode: str
    search_mode_reason: str
    pass1_entities: tuple[PassOneEntity, ...]
    path_filter: str | None
    timings: Mapping[str, float]
    """Milliseconds per stage."""
    total_matched: int
    in_scope: int
    vector_share: float
    total_below_floor: int = 0
    """Documents with a positive cosine that are not results: no term, and a cosine below .3."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: damage to the index, vectors still missing, ambiguous names."""
    searched: str = ""
    """The query as it was searched for: without date words that are not searched for."""
    topic: str = ""
    """What the query asks besides people and teams; empty if nothing."""
    candidates: int | None = None
    """Documents that were scored, in a scope too wide to compare every chunk in meaning; None: all
    in scope."""
    recall: float | None = None
    """Where `candidates` is given: the share of the ten best chunks by meaning that such a search
    finds, measured on a sample when the index was built."""
    few_answers: FewAnswers | None = None
    """What a note is about, where few documents or none answer the topic."""
    dates: tuple[PreferredDates, ...] = ()
    """Date words that were read, and the period that each means."""
    typed_filters: tuple[str, ...] = ()
    """Filters typed in the query, each as it would be typed."""
    explain: Mapping[str, Any] | None = None
    """Query of pass 2, filters, knobs, and how many documents were evaluated."""


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """What `KnowledgeBase.search` returns."""

    query: str
    results: tuple[SearchResult, ...]
    meta: SearchMeta
