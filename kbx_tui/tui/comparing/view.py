"""What the compare screen shows, as plain values without control characters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """One of the first results under one setting."""

    path: str
    """As indexed."""
    title: str
    score: float
    document_part: float
    entity_part: float
    move: str
    """From A to B: `▲3`, `▼2`, `lost`, `new`; empty if it stays where it is."""


@dataclass(frozen=True, slots=True)
class RankRow:
    """What is at one rank under A and under B; None below the last result."""

    rank: int
    before: ComparedResult | None
    after: ComparedResult | None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a document was lost or gained."""

    title: str
    ranks: str
    """Its ranks under A and B: `4 to 17`, `4 to none`."""
    reason: str


@dataclass(frozen=True, slots=True)
class CompareView:
    """One query under two settings."""

    query: str
    before: str
    """The settings A in words."""
    after: str
    """The settings B in words."""
    rows: tuple[RankRow, ...]
    lost: tuple[Reason, ...]
    gained: tuple[Reason, ...]
    moved: int
    """Number of documents that are in both at another rank."""
