"""From which score on two texts count as alike, by what they are. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kbx_tui.config import DedupSettings
from kbx_tui.errors import OutOfRange
from kbx_tui.similarity.matches import MatchType
from kbx_tui.similarity.scoring.signals import Signals

WITHOUT_COMMON_WORD = 0.6
"""Cosine that texts without a common word need, unless a threshold is given.

Labelled sets hold few unrelated pairs, a base hardly anything else: .6 is above 99.9 % of the
random pairs of STS-B (.57)."""


LONG_FACT = 20
"""Words from which on a fact is long."""


class Scored(Protocol):
    """What tells whether a threshold is reached: a Likeness, or what became of it."""

    @property
    def score(self) -> float: ...

    @property
    def signals(self) -> Signals: ...


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The threshold given, which rules for all, or those of `[dedup]` by type and length."""

    settings: DedupSettings
    given: float | None = None

    def __post_init__(self) -> None:
        if self.given is not None and not 0.0 <= self.given <= 1.0:
            raise OutOfRange(f"the threshold must be within 0..1, got {self.given}")

    @property
    def default(self) -> float:
        """What an answer names as its threshold."""
        return self.settings.default_threshold if self.given is None else self.given

    def of(self, match_type: MatchType, text: str) -> float:
        """Return the threshold for a stored text."""
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

    def reached(self, pair: Scored, threshold: float) -> bool:
        """Tell whether a pair is a match."""
        if pair.score < threshold:
            return False
        return self.given is not None or pair.score == 1.0 or is_near(pair.signals)


def is_near(signals: Signals) -> bool:
    """Tell whether a score of two texts says something where most texts are unrelated."""
    return signals.shares_word or signals.cosine >= WITHOUT_COMMON_WORD
