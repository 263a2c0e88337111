"""What a check answers: the texts that are alike, each with its score and the reasons. Values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kbx_tui.similarity.conflicts.conflict_guard import Conflict
from kbx_tui.similarity.scoring.pair_score import PairSimilarity, Relation
from kbx_tui.similarity.scoring.signals import Signals

MatchType = Literal["fact", "open_item", "chunk", "field"]


@dataclass(frozen=True, slots=True)
class SimilarityMatch:
    """A stored text that is like the one asked about."""

    text: str
    score: float
    """Calibrated, 0..1; 1 for the same text."""
    fact_id: int | None
    """Of a fact or open item."""
    source_path: str
    date: str
    """ISO date, or empty."""
    entity_name: str
    """Whose fact it is; of a chunk, the entity whose page it stands on, or empty."""
    match_type: MatchType
    threshold: float
    """The threshold this match is above."""
    relation: Relation
    cosine: float
    signals: Signals
    conflicts: tuple[Conflict, ...]
    line: int
    """Line of the file, 1-based."""
    done: bool
    """True for an open item that is ticked."""

    @property
    def is_similar(self) -> bool:
        """True when the two say the same: no conflict."""
        return self.relation != "conflict"


@dataclass(frozen=True, slots=True)
class Nearest:
    """What is most like a text of all that was compared, a match or not."""

    text: str
    score: float
    """0..1."""
    threshold: float
    """From which on such a text is a match."""
    match_type: MatchType
    source_path: str
    line: int
    """In its file, 1-based."""


@dataclass(frozen=True, slots=True)
class SimilarityCheck:
    """The answer for one text."""

    query: str
    scope: Mapping[str, str]
    """`entity` and `path` as far as they were given; the entity by its full name."""
    threshold: float
    """The one given, else the default; every match carries its own."""
    matches: tuple[SimilarityMatch, ...]
    """Best first, at most as many as asked for, conflicts included."""
    has_similar: bool
    """True when one without a conflict reaches its threshold, told in `matches` or not."""
    best_score: float
    """Of all that was compared, also below the threshold; 0 when nothing was."""
    nearest: tuple[Nearest, ...]
    """What has the best scores, best first, at most five; empty when nothing was compared."""
    model: str
    """Embedding model."""
    is_calibrated: bool
    """False when the model has no calibration: scores are raw cosines then."""
    notes: tuple[str, ...]
    """Sentences for people: what could not be compared."""


@dataclass(frozen=True, slots=True)
class FieldSimilarity:
    """Whether a proposed value of a field says what is there already."""

    entity: str
    field: str
    current_value: str | None
    """What is there; of a list the item most like the proposed one; None where there is nothing."""
    proposed_value: str
    similarity: float
    is_similar: bool
    """True from the threshold on, unless the two are in conflict."""
    threshold: float
    match_type: MatchType
    """`field`, or what the list that was asked about holds: `fact`, `open_item`."""
    pair: PairSimilarity | None
    """Cosine, signals and conflicts; None where there is nothing to compare with."""
    model: str
