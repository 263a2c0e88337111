"""Results of a similarity check, and the thresholds from which texts match. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import DedupSettings
from kbx_tui.errors import OutOfRange
from kbx_tui.knowledge.records import FactKind
from kbx_tui.similarity.compared_words import Signals
from kbx_tui.similarity.conflict_guard import Conflict
from kbx_tui.similarity.pair_score import PairSimilarity, Relation

MatchType = Literal["fact", "open_item", "chunk", "field"]


@dataclass(frozen=True, slots=True)
class DuplicateFact:
    text: str
    fact_id: int
    source_path: str
    line: int
    date: str
    entity_name: str
    match_type: FactKind


@dataclass(frozen=True, slots=True)
class SimilarityMatch:
    text: str
    pair: PairSimilarity
    """The text checked on the left, the stored one on the right."""
    threshold: float
    """The score that such a text needs; it may be listed below that, see `is_similar`."""
    match_type: MatchType
    source_path: str
    line: int
    entity_id: str = ""
    """The entity of a fact or field; empty for a passage."""
    entity_name: str = ""
    fact_id: int | None = None
    date: str = ""
    done: bool = False
    field: str = ""

    @property
    def score(self) -> float:
        return self.pair.score

    @property
    def cosine(self) -> float:
        return self.pair.cosine

    @property
    def signals(self) -> Signals:
        return self.pair.signals

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return self.pair.conflicts

    @property
    def relation(self) -> Relation:
        return self.pair.relation

    @property
    def is_similar(self) -> bool:
        """Whether the two texts say the same: the threshold is reached, without a conflict."""
        return self.score >= self.threshold and self.relation != "conflict"


@dataclass(frozen=True, slots=True)
class SimilarityCheck:
    query: str
    scope: Mapping[str, str]
    """`entity` (full name) and `path`, where given."""
    threshold: float
    """The one given, else that of the best match that is similar, else that of the best match, else
    that of the nearest text: `best_score` reaches it unless nothing is similar or in conflict."""
    matches: tuple[SimilarityMatch, ...]
    """Best first, at most the limit; conflicts and what is somewhat similar included."""
    has_similar: bool
    best_score: float
    """Of all texts compared, even below the threshold; 0 when there were none."""
    nearest: tuple[SimilarityMatch, ...]
    """At most five, best first."""
    model: str
    is_calibrated: bool
    """False when the model has no calibration, so that scores are raw cosines."""
    notes: tuple[str, ...]
    in_scope: int = 0


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
    threshold: float
    match_type: MatchType
    """`field`, or `fact` or `open_item` for a field that lists those."""
    pair: PairSimilarity | None
    """None when the field is absent."""
    model: str
    notes: tuple[str, ...] = ()


WITHOUT_COMMON_WORD = 0.6

FLOOR = 0.5
"""Score below which nothing is called similar: only a threshold below it lists such texts."""

LISTED = 0.8
"""Score from which a text is listed when no threshold is given, even if its type needs more to be
similar: a caller decides between writing and merging with what is somewhat similar in view."""

LONG_FACT = 20


def require_threshold(threshold: float) -> None:
    if not 0.0 <= threshold <= 1.0:
        raise OutOfRange(f"the threshold must be within 0..1, got {threshold}")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """One given threshold for everything, or those of `[dedup]` by type and length.

    `load_settings` fills in those: the type's own key in kbx.toml, else `default_threshold` in
    kbx.toml, else the built-in one.
    """

    settings: DedupSettings
    given: float | None = None

    def __post_init__(self) -> None:
        if self.given is not None:
            require_threshold(self.given)

    @property
    def default(self) -> float:
        return self.settings.default_threshold if self.given is None else self.given

    def of(self, match_type: MatchType, text: str) -> float:
        if self.given is not None:
            return self.given
        settings = self.settings
        if match_type == "open_item":
            return settings.open_item_threshold
        if match_type == "chunk":
            return settings.chunk_threshold
        if match_type == "field":
            return settings.field_threshold
        is_long = len(text.split()) >= LONG_FACT
        return settings.long_fact_threshold if is_long else settings.fact_threshold

    def reached(self, pair: PairSimilarity, threshold: float) -> bool:
        """Return whether a pair is similar, conflicts aside."""
        return pair.score >= threshold and (is_near(pair) or threshold < FLOOR)

    def listed(self, pair: PairSimilarity, threshold: float) -> bool:
        return self.reached(pair, threshold if self.given is not None else min(threshold, LISTED))

    def is_misleading(self, pair: PairSimilarity, threshold: float) -> bool:
        return pair.score >= threshold and not self.reached(pair, threshold)


def is_near(pair: PairSimilarity) -> bool:
    """Return whether a score is meaningful in a base where most texts are unrelated."""
    signals = pair.signals
    return pair.score == 1.0 or signals.shares_word or signals.cosine >= WITHOUT_COMMON_WORD


def precision_recall_f1(
    labels: NDArray[np.bool_], accepted: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the accepted pairs; 0 where nothing is accepted.

    Both arguments have shape (pairs,); `labels` is True for a duplicate.
    """
    hits = int((labels & accepted).sum())
    precision = hits / max(int(accepted.sum()), 1)
    recall = hits / max(int(labels.sum()), 1)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
