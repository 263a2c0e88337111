"""Results of a similarity check: matches with their scores and reasons. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.similarity.conflicts.conflict_guard import Conflict
from kbx_tui.similarity.scoring.pair_score import PairSimilarity, Relation
from kbx_tui.similarity.scoring.signals import Signals

MatchType = Literal["fact", "open_item", "chunk", "field"]


@dataclass(frozen=True, slots=True)
class DuplicateFact:
    """A fact or open item that others duplicate or contradict."""

    text: str
    fact_id: int
    source_path: str
    line: int
    date: str
    entity_name: str
    match_type: FactKind

    @classmethod
    def of(cls, fact: Fact, names: Mapping[str, str]) -> DuplicateFact:
        """Return the fact with the name of its entity; `names` maps entity ids to names."""
        name = names.get(fact.entity_id, "")
        return cls(fact.text, fact.fact_id, fact.path, fact.line, fact.date, name, fact.kind)


@dataclass(frozen=True, slots=True)
class SimilarityMatch:
    """A stored text similar to the one checked."""

    text: str
    score: float
    """Calibrated, 0..1; exactly 1 for identical text."""
    fact_id: int | None
    """Id of the fact or open item; None for a passage or a field."""
    source_path: str
    date: str
    """ISO date, or empty."""
    entity_name: str
    """The entity the fact or field belongs to, or whose page a passage is on; or empty."""
    match_type: MatchType
    threshold: float
    """The threshold that applies to it: a match may be listed below it, see `is_similar`."""
    relation: Relation
    cosine: float
    signals: Signals
    conflicts: tuple[Conflict, ...]
    line: int
    """Line in the file, 1-based; 1 for a field, which stands in the frontmatter."""
    done: bool
    """Whether an open item is ticked off."""
    field: str = ""
    """Name of the field; empty for anything else."""

    @classmethod
    def of(
        cls, fact: DuplicateFact, pair: PairSimilarity, threshold: float, *, done: bool = False
    ) -> SimilarityMatch:
        """Return a fact as a match; `threshold` is the one that applies to it."""
        return cls(
            text=fact.text,
            score=pair.score,
            fact_id=fact.fact_id,
            source_path=fact.source_path,
            date=fact.date,
            entity_name=fact.entity_name,
            match_type=fact.match_type,
            threshold=threshold,
            relation=pair.relation,
            cosine=pair.cosine,
            signals=pair.signals,
            conflicts=pair.conflicts,
            line=fact.line,
            done=done,
        )

    @property
    def is_similar(self) -> bool:
        """Whether the two texts say the same: the threshold is reached, without a conflict."""
        return self.score >= self.threshold and self.relation != "conflict"


@dataclass(frozen=True, slots=True)
class Nearest:
    """One of the texts with the best scores, whether it matches or not."""

    text: str
    score: float
    """0..1."""
    threshold: float
    """The score such a text needs to match."""
    match_type: MatchType
    source_path: str
    line: int
    """Line in the file, 1-based."""


@dataclass(frozen=True, slots=True)
class SimilarityCheck:
    """The result of checking one text."""

    query: str
    scope: Mapping[str, str]
    """`entity` (full name) and `path`, where given."""
    threshold: float
    """The one given, else that of the best match that is similar, else that of the best match, else
    that of the nearest text: `best_score` reaches it unless nothing is similar or in conflict."""
    matches: tuple[SimilarityMatch, ...]
    """Best first, at most the limit; conflicts and what is somewhat similar included."""
    has_similar: bool
    """Whether any of `matches` is similar."""
    best_score: float
    """The best score of all texts compared, even below the threshold; 0 when there were none."""
    nearest: tuple[Nearest, ...]
    """The texts with the best scores, best first, at most five."""
    model: str
    """Embedding model."""
    is_calibrated: bool
    """False when the model has no calibration, so that scores are raw cosines."""
    notes: tuple[str, ...]
    """Sentences for the user about what could not be compared."""
    in_scope: int = 0
    """Number of facts and documents that were compared."""


@dataclass(frozen=True, slots=True)
class FieldSimilarity:
    """Whether a proposed value says what a field already holds."""

    entity: str
    field: str
    current_value: str | None
    """The stored value; for a list, its most similar item; None when the field is absent."""
    proposed_value: str
    similarity: float
    is_similar: bool
    """Whether the similarity reaches the threshold without a conflict."""
    threshold: float
    match_type: MatchType
    """`field`, or `fact` or `open_item` for a field that lists those."""
    pair: PairSimilarity | None
    """Cosine, signals and conflicts; None when the field is absent."""
    model: str
    notes: tuple[str, ...] = ()
    """Sentences for the user about what could not be compared."""
