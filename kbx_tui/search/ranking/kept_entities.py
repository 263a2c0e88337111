"""Which entities a ranking keeps and counts, and whether it is two-pass or flat. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kbx_tui.search.evidence.evidence import ComponentScores, EntityCandidate, Evidence
from kbx_tui.search.evidence.topic import Topic
from kbx_tui.search.evidence.tuning import Tuning

SearchMode = Literal["two_pass", "flat"]
Reason = Literal[
    "entities", "disabled", "fast", "no_entities", "below_threshold", "too_broad", "nothing_linked"
]
"""Why a search is two-pass (`entities`) or flat (any other)."""

SPREAD_RANK = 5
SPREAD = 0.1
"""A query is too broad if the best entity leads the fifth by less. Source: two-pass proposal,
section 4."""


@dataclass(frozen=True)
class EntityChoice:
    """The entities of one Evidence that a ranking under one Tuning keeps."""

    evidence: Evidence
    tuning: Tuning
    kept: tuple[int, ...]
    """Indices into `evidence.entities`: pinned ones and those that pass the threshold, by
    descending `entity_score`; empty when flat."""
    search_mode_reason: Reason

    @property
    def search_mode(self) -> SearchMode:
        """`two_pass` if any entity is kept."""
        return "two_pass" if self.kept else "flat"

    @property
    def components(self) -> ComponentScores:
        """The component scores that the ranking uses."""
        flat = not self.kept or self.tuning.keep_names
        return self.evidence.as_typed if flat else self.evidence.as_searched

    @property
    def kept_entities(self) -> tuple[EntityCandidate, ...]:
        """The kept entities, best first."""
        return tuple(self.evidence.entities[index] for index in self.kept)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """Those of `kept` that contribute to the parent score: those named outright, if any."""
        named = tuple(filter(self._is_named, self.kept))
        return named if named and self.tuning.parent == "coverage" else self.kept

    @cached_property
    def is_coverage(self) -> bool:
        """Whether the parent score is a mean over `counted`; otherwise it is a maximum."""
        return self.tuning.parent == "coverage" and all(map(self._is_named, self.counted))

    @property
    def topic(self) -> Topic | None:
        """The topic by which scores are scaled.

        None when flat, where the query names people and asks nothing else, or if
        `Tuning.scale_by_topic` is off.
        """
        return self.evidence.topic if self.kept and self.tuning.scale_by_topic else None

    def entity_score(self, index: int) -> float:
        """Return the score that entity `index` of the Evidence counts with: 1.0 if pinned."""
        entity = self.evidence.entities[index]
        return 1.0 if self.tuning.pins(entity.id) else entity.score

    def _is_named(self, index: int) -> bool:
        entity = self.evidence.entities[index]
        return entity.named or self.tuning.pins(entity.id)


def choose_entities(evidence: Evidence, tuning: Tuning) -> tuple[tuple[int, ...], Reason]:
    """Return the indices of the kept entities, best first, and the reason; flat if empty."""
    if evidence.fast:
        return (), "fast"
    if not tuning.hierarchy:
        return (), "disabled"
    entities = evidence.entities
    pinned = [i for i, e in enumerate(entities) if tuning.pins(e.id)] if tuning.pinned else []
    candidates = [i for i, e in enumerate(entities) if e.found and e.id not in tuning.muted]
    if not candidates and not pinned:
        return (), "no_entities"
    passed = [i for i in candidates if entities[i].score >= tuning.entity_threshold]
    if not passed and not pinned:
        return (), "below_threshold"
    scores = [entities[i].score for i in candidates]
    close = len(scores) >= SPREAD_RANK and scores[0] - scores[SPREAD_RANK - 1] < SPREAD
    if close and not (pinned or any(entities[i].named for i in passed)):
        return (), "too_broad"
    others = [i for i in passed if i not in pinned]
    kept = pinned + others[: max(tuning.max_entities - len(pinned), 0)]
    kept.sort(key=lambda i: (-1.0 if i in pinned else -entities[i].score, i))
    if not any(len(evidence.links[i].rows) for i in kept):
        return (), "nothing_linked"
    return tuple(kept), "entities"
