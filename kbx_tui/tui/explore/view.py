"""Plain values that the explore screen shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Scope

EXPERTS_KEY, SPELLING_KEY = "{experts}", "{spelling}"
KEYS_IN_NOTES = {EXPERTS_KEY: "mode.experts", SPELLING_KEY: "spelling.toggle"}
"""Placeholders in notes for the keys of commands, which kbx.toml or a browser may change."""


WEAK = 0.25
"""Share of the best score below which a result is dim, folded into a line, and said to be weak."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    row: int
    """Row in the evidence, which identifies the result to the engine."""
    path: str
    title: str
    date: str
    rank: int
    score: float
    document_part: float
    entity_part: float
    reranker_part: float
    known_item: str
    """`title`, `path`, `id`, `date` or `name` if the query states it in full; else empty."""
    has_vector: bool = True
    """False if other documents can be found by meaning, but this one cannot yet."""


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
    """Why the entity does not count although it reaches the threshold; else empty."""
    is_outnamed: bool = False
    """Whether no threshold makes it count, because the query names others outright."""

    @property
    def sign(self) -> str:
        return "✕" if self.muted else "●" if self.kept else "○"


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    reason: str
    """The entities for which the second pass ran, or why it did not, in words."""
    preset: str
    milliseconds: float
    vector_share: float
    is_cut: bool = False
    reranker_ms: float | None = None
    """Milliseconds that the reranker took in addition; None if it added nothing."""
    candidates: int | None = None
    """Number of documents scored, in a scope too large to score all; None if all were."""


@dataclass(frozen=True, slots=True)
class DatesView:
    use: str
    """`prefer`, `filter`, or `off` if the user turned dates off."""
    words: str
    """The period, such as `March 2026`; empty if no document is dated in it, or if off."""
    undated: str
    """Periods, in words, in which no document is dated."""


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
    """How the results are sorted, in words; empty if by score."""
    alpha_note: str
    note: str = ""
    """What the user should know first about the answer; empty if there is nothing to say."""
    filters: tuple[str, ...] = ()
    dates: DatesView | None = None
    """None if the query has no date words, or kbx.toml turns them off."""
    gated: int = 0
    """Number of matching documents left out by the gate: no kept entity is linked to them."""


@dataclass(frozen=True, slots=True)
class Addend:
    value: float
    """The value, rounded as shown."""
    maximum: float | None
    """The largest possible value, rounded; None if it is not informative."""
    name: str
    reason: str
    sentence: str = ""
    """What the addend means, in a sentence without a full stop; empty if its name says enough."""


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
    """The score without the reranker; `plain + added` is `score`."""
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
    """Terms whose weighted sum is the score without reranker; empty if only the document counts."""
    frecency: Term | None
    """Set if frecency has a weight; `terms` together then weigh `1 - frecency.weight`."""
    known_item: str
    sections: tuple[Section, ...]
    """Empty where no part of a score counts: the query is nothing but filters or a date."""
    reranking: Reranking | None = None
    likeness: str = ""
    """How its meaning relates to the query, where no word of it occurs; empty if it does not."""
    links: tuple[str, ...] = ()
    """How it is linked to the entities that count, such as `Alice attended`."""
    known_as: str = ""
    """Why it is a known item, in words."""
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class BaseSummary:
    name: str
    root: str
    searchable: bool
    documents: int | None = None
    """Number of documents; None until they have been counted."""
    entities: int | None = None
    contents: str = ""
    queries: tuple[str, ...] = ()
    busiest: tuple[tuple[str, str, int], ...] = ()
    """Name and type of entities with many documents, and their number, by type."""
    is_waiting: bool = False
    """Whether indexing waits for the user to start it."""


FileState = Literal["changed", "gone"]
