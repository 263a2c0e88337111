"""What the explore screen shows, as plain values, and the messages that bring it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Scope

EXPERTS_KEY = "{experts}"
"""Stands in a note for the key of the experts mode, which kbx.toml or a browser may change."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    row: int
    """Row of the evidence, which identifies it to the engine."""
    path: str
    title: str
    date: str
    rank: int
    score: float
    document_part: float
    entity_part: float
    reranker_part: float
    known_item: str
    """`title`, `path`, `id`, `date` or `name`: what the query gives in full; else empty."""
    has_vector: bool = True
    """False where others can be found by meaning and this document cannot yet."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    id: str
    name: str
    type: str
    path: str
    score: float
    kept: bool
    signals: str
    muted: bool = False
    pinned: bool = False
    left_out: str = ""
    """Why it does not count although it reaches the threshold; else empty."""

    @property
    def sign(self) -> str:
        return "✕" if self.muted else "●" if self.kept else "○"


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    reason: str
    """In words: the entities for which the second pass ran, or why it did not."""
    preset: str
    milliseconds: float
    vector_share: float
    is_cut: bool = False
    reranker_ms: float | None = None
    """Milliseconds that the reranker took beside those; None where it added nothing."""
    candidates: int | None = None
    """Documents that were scored, in a scope too wide to score all; None: all."""


@dataclass(frozen=True, slots=True)
class DatesView:
    use: str
    """`prefer`, `filter`, or `off` where the user turned them off."""
    words: str
    """The time in words, `March 2026`; empty if no document is of it, or where it is off."""
    undated: str
    """Times in words in which no document is dated."""


@dataclass(frozen=True, slots=True)
class ExploreView:
    query: str
    mode: Mode
    threshold: float
    entities: tuple[EntityRow, ...]
    results: tuple[ResultRow, ...]
    matched: int
    """Number of documents that match; `results` may hold fewer."""
    scope: Scope
    order: str
    """How the results are sorted, in words; empty when by score."""
    alpha_note: str
    note: str = ""
    """What to know about the answer first; empty if there is nothing to say."""
    filters: tuple[str, ...] = ()
    dates: DatesView | None = None
    """None where the query has no date words, or kbx.toml says that they are not read."""
    gated: int = 0
    """Documents that match and are left out by the gate: no kept entity is linked to them."""


@dataclass(frozen=True, slots=True)
class Addend:
    value: float
    """Rounded as shown."""
    maximum: float | None
    """The largest possible value, rounded; None where it says nothing."""
    name: str
    reason: str
    sentence: str = ""
    """What the addend says, in a sentence without a full stop; empty where its name says enough."""


@dataclass(frozen=True, slots=True)
class Section:
    """A number and the addends that sum to it, exactly as shown."""

    name: str
    total: float
    addends: tuple[Addend, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    weight: float
    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Reranking:
    """What the reranker adds to a score; all numbers rounded as shown."""

    score: float
    plain: float
    """The score without it; `plain + added` is the score."""
    added: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Why:
    row: int
    title: str
    path: str
    kind: str
    date: str
    score: float
    terms: tuple[Term, ...]
    """Their weighted sum is the score without reranker; empty if the document alone makes it."""
    frecency: Term | None
    """Set when hotness has a weight; the terms weigh `1 - frecency.weight` together then."""
    known_item: str
    sections: tuple[Section, ...]
    reranking: Reranking | None = None


@dataclass(frozen=True, slots=True)
class BaseSummary:
    name: str
    root: str
    searchable: bool
    documents: int | None = None
    """None until it has been counted."""
    entities: int | None = None
    contents: str = ""
    queries: tuple[str, ...] = ()
    is_waiting: bool = False
    """Whether files are indexed only once the user begins it."""


FileState = Literal["changed", "gone"]


@dataclass
class BaseCounted(Message):
    summary: BaseSummary


@dataclass
class QueryCompleted(Message):
    typed: str
    query: str
    """What was searched for: the same, or with its last word continued."""


@dataclass
class SearchSlow(Message):
    """A search is taking long enough to show a message."""


@dataclass
class ScopeCounted(Message):
    path: str
    in_scope: int


@dataclass
class SnippetsReady(Message):
    query: str
    paths: frozenset[str]


@dataclass
class FilesChanged(Message):
    paths: frozenset[str]
