"""What the explore screen shows, as plain values: no array, no engine object, no widget."""

from __future__ import annotations

from dataclasses import dataclass

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One document in the result list."""

    row: int
    """Row of the Evidence: what it is asked for by."""
    path: str
    title: str
    date: str
    rank: int
    score: float
    document_part: float
    entity_part: float
    exact: str
    """`title`, `path`, `id`, `date` or `name` when the query asks for just that, else empty."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    """One entity that pass 1 found."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty."""
    score: float
    kept: bool
    signals: str
    """Why it fits, in words."""
    muted: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Mode:
    """What kind of search this was and why."""

    name: str
    """`two-pass`, `flat` or `fast`."""
    reason: str
    """In words: the entities that opened the second pass, or why there was none."""
    milliseconds: float
    vector_share: float
    """Share of the chunks that can be found by meaning, 0..1."""


@dataclass(frozen=True, slots=True)
class ScopeView:
    """How many documents the path filter leaves."""

    path: str
    """As typed; empty for everywhere."""
    in_scope: int
    total: int


@dataclass(frozen=True, slots=True)
class ExploreView:
    """One ranking, ready to be shown."""

    query: str
    mode: Mode
    threshold: float
    entities: tuple[EntityRow, ...]
    results: tuple[ResultRow, ...]
    matched: int
    """Documents that are results at all; `results` may hold fewer."""
    scope: ScopeView
    order: str
    """How they are sorted, in words; empty when by score."""
    alpha_note: str
    """Why alpha changes nothing, else where the next change is."""


@dataclass(frozen=True, slots=True)
class Part:
    """One addend of a sum on screen."""

    value: float
    """Rounded: what is shown."""
    most: float | None
    """The most it could have been, rounded; None when that says nothing."""
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Section:
    """A number and the parts that sum to it, exactly as shown."""

    name: str
    total: float
    parts: tuple[Part, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Term:
    """A weight times a value in the formula of the score."""

    weight: float
    value: float
    name: str
    """`document` or `entity`."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a document stands where it stands, in numbers that add up as they are shown."""

    row: int
    title: str
    path: str
    kind: str
    date: str
    score: float
    terms: tuple[Term, ...]
    """`score` is the sum of weight x value, rounded; empty when flat: then it is the document's."""
    hotness: Term | None
    """Present when hotness counts; then the terms weigh `1 - hotness.weight` together."""
    exact: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class SnippetView:
    """The place in a document that fits best."""

    text: str
    matches: Spans
    heading: str
    line_start: int
    line_end: int
    terms: tuple[tuple[str, int], ...]
    """Words of the query found in the document, and how often."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one line of a document as it is shown."""

    line: int
    """1-based."""
    start: int
    """In characters of the line, 0-based."""
    end: int


@dataclass(frozen=True, slots=True)
class TextLink:
    """A wikilink or a markdown link in a document."""

    place: Place
    """What is shown of it: the label, without brackets."""
    target: str
    """Where it leads, as it is written in the file."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A document's text as it is in the file now."""

    path: str
    title: str
    date: str
    kind: str
    lines: tuple[str, ...]
    """Line n of the file is item n-1; nothing in it acts on a terminal."""
    line_start: int = 0
    line_end: int = 0
    """1-based lines of the best place, 0 when none is known."""
    matches: tuple[Place, ...] = ()
    """Words of the query, in order."""
    links: tuple[TextLink, ...] = ()
    """In order."""


@dataclass(frozen=True, slots=True)
class CardFact:
    """A fact on an entity card."""

    text: str
    date: str
    status: str
    """Empty when it holds, else `superseded`, `archived` or `redacted`."""
    sources: tuple[str, ...]
    """Other than the page it stands on."""


@dataclass(frozen=True, slots=True)
class CardItem:
    """An open item on an entity card."""

    text: str
    date: str
    done: bool


@dataclass(frozen=True, slots=True)
class CardDocument:
    """A document of the entity."""

    path: str
    title: str
    date: str
    kind: str
    reason: str
    """How it is linked: `attendee`, `title, 4 mentions`."""


@dataclass(frozen=True, slots=True)
class CardView:
    """All that is known about one entity."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty."""
    role: str
    team: str
    aliases: tuple[str, ...]
    facts: tuple[CardFact, ...]
    open_items: tuple[CardItem, ...]
    documents: tuple[CardDocument, ...]
    """Newest first."""


@dataclass(frozen=True, slots=True)
class BaseSummary:
    """Which knowledge base is open."""

    name: str
    root: str
    searchable: bool
    documents: int | None = None
    """None while it is being counted."""
    entities: int | None = None
