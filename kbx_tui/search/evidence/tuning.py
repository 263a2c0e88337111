"""The knobs of one ranking, validated on construction. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

from kbx_tui.errors import ConfigError, OutOfRange

Gate = Literal["soft", "hard"]
Parent = Literal["coverage", "max"]
Preset = Literal["default", "seed"]
"""`seed` ranks by the formula of the two-pass proposal."""

MAX_ENTITIES_LIMIT = 20
"""Evidence holds the links of at most this many entities found by pass 1."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How to rank one Evidence. Every field may change without retrieving again."""

    hierarchy: bool = True
    """False ranks flat, whatever entities were found."""
    alpha: float = 0.5
    """Weight of document relevance: 1 ranks by the document alone, 0 by the entity alone."""
    entity_threshold: float = 0.5
    """Entities with a lower score are not kept; if none is kept, the ranking is flat."""
    max_entities: int = 5
    """How many entities are kept at most, 1..20."""
    gate: Gate = "soft"
    """`soft` keeps unlinked documents with a parent score of 0, `hard` removes them."""
    parent: Parent = "coverage"
    """`coverage`: the mean over the entities named outright; `max`: the best kept entity."""
    uniform_links: bool = False
    """True gives every link strength 1, whatever its kind."""
    scale_by_topic: bool = True
    """True scales what entities add by how fully a document answers the rest of the query."""
    keep_names: bool = False
    """True runs pass 2 with the query as typed."""
    hotness_weight: float = 0.0
    """Weight of a document's frecency in the final score, 0..1."""
    muted: frozenset[str] = frozenset()
    """Ids of entities to ignore for this query."""
    pinned: frozenset[str] = frozenset()
    """Ids of entities that are kept and count as named outright, whatever their score. Muting wins
    over pinning. The Evidence must hold them."""

    def __post_init__(self) -> None:
        for name in ("alpha", "entity_threshold", "hotness_weight"):
            number = getattr(self, name)
            if not 0.0 <= number <= 1.0:  # also rejects NaN
                raise OutOfRange(f"{name} must be within 0..1, got {number}")
        if not 1 <= self.max_entities <= MAX_ENTITIES_LIMIT:
            raise OutOfRange(
                f"max_entities must be within 1..{MAX_ENTITIES_LIMIT}, got {self.max_entities}"
            )
        for name, choices in (("gate", get_args(Gate)), ("parent", get_args(Parent))):
            if (choice := getattr(self, name)) not in choices:
                raise ConfigError(f"{name} must be {' or '.join(choices)}, got {choice!r}")

    def pins(self, entity_id: str) -> bool:
        """Return whether an entity is pinned and not muted."""
        return entity_id in self.pinned and entity_id not in self.muted

    @property
    def preset(self) -> Preset:
        """Whose formula ranks, whatever the other knobs are."""
        return "default" if self.scale_by_topic else "seed"

    @classmethod
    def seed(cls, *, alpha: float = 0.5, entity_threshold: float = 0.5) -> Self:
        """Return the tuning that follows the two-pass proposal to the letter, for comparison."""
        return cls(
            alpha=alpha,
            entity_threshold=entity_threshold,
            gate="hard",
            parent="max",
            uniform_links=True,
            scale_by_topic=False,
            keep_names=True,
        )
