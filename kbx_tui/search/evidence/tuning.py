"""The knobs of one ranking, checked where they enter. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from kbx_tui.errors import ConfigError, OutOfRange

Gate = Literal["soft", "hard"]
Parent = Literal["coverage", "max"]

MAX_ENTITIES_LIMIT = 20
"""Evidence carries the links of this many entities; to keep more, retrieve again."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How to rank one Evidence. Every field may change without retrieving again."""

    hierarchy: bool = True
    """False ranks flat, whatever entities were found."""
    alpha: float = 0.5
    """Weight of document relevance: 1 ranks by the document alone, 0 by the entity alone."""
    entity_threshold: float = 0.5
    """Entity score below which an entity is not kept; none kept means flat."""
    max_entities: int = 5
    """At most this many entities are kept, 1..20."""
    gate: Gate = "soft"
    """`soft` leaves unlinked documents in with parent 0, `hard` removes them."""
    parent: Parent = "coverage"
    """Mean over the entities named outright, or always the best kept entity."""
    uniform_links: bool = False
    """True counts every link as strength 1, whatever its kind."""
    keep_names: bool = False
    """True searches pass 2 with the query as typed."""
    hotness_weight: float = 0.0
    """Share of a document's hotness in the final score, 0..1."""
    muted: frozenset[str] = frozenset()
    """Ids of entities left out for this query."""
    pinned: frozenset[str] = frozenset()
    """Ids of entities that are kept whatever their score, and count as if the query named them
    outright; one that is muted is not. The Evidence must hold them."""

    def __post_init__(self) -> None:
        for name in ("alpha", "entity_threshold", "hotness_weight"):
            number = getattr(self, name)
            if not 0.0 <= number <= 1.0:  # put this way round, NaN fails too
                raise OutOfRange(f"{name} must be within 0..1, got {number}")
        if not 1 <= self.max_entities <= MAX_ENTITIES_LIMIT:
            raise OutOfRange(
                f"max_entities must be within 1..{MAX_ENTITIES_LIMIT}, got {self.max_entities}"
            )
        if self.gate not in ("soft", "hard"):
            raise ConfigError(f"gate must be soft or hard, got {self.gate!r}")
        if self.parent not in ("coverage", "max"):
            raise ConfigError(f"parent must be coverage or max, got {self.parent!r}")

    @classmethod
    def seed(cls, *, alpha: float = 0.5, entity_threshold: float = 0.5) -> Self:
        """Return the two-pass proposal to the letter, for comparison."""
        return cls(
            alpha=alpha,
            entity_threshold=entity_threshold,
            gate="hard",
            parent="max",
            uniform_links=True,
            keep_names=True,
        )
