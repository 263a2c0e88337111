"""Score thresholds from which two texts match, by type and length, and their measures. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import DedupSettings
from kbx_tui.errors import OutOfRange
from kbx_tui.similarity.matches import MatchType
from kbx_tui.similarity.scoring.signals import Signals

WITHOUT_COMMON_WORD = 0.6
"""Cosine that texts without a common word need, unless a threshold below `FLOOR` is given.

Labelled sets hold few unrelated pairs; a knowledge base holds little else. Chosen by the experiment
"cosine of unrelated pairs" in docs/quality.md."""

FLOOR = 0.5
"""Score below which nothing is called similar: only a threshold below it lists such texts."""

LISTED = 0.8
"""Score from which a text is listed when no threshold is given, even if its type needs more to be
similar: a caller decides between writing and merging with what is somewhat similar in view."""

LONG_FACT = 20
"""Number of words from which a fact counts as long."""


class Scored(Protocol):
    """A score with its signals: a PairScore or a PairSimilarity."""

    @property
    def score(self) -> float: ...

    @property
    def signals(self) -> Signals: ...


@dataclass(frozen=True, slots=True)
class Thresholds:
    """One given threshold for everything, or those of `[dedup]` by type and length.

    `load_settings` fills in those: the type's own key in kbx.toml, else `default_threshold` in
    kbx.toml, else the built-in one.
    """

    settings: DedupSettings
    given: float | None = None

    def __post_init__(self) -> None:
        if self.given is not None and not 0.0 <= self.given <= 1.0:
            raise OutOfRange(f"the threshold must be within 0..1, got {self.given}")

    @property
    def default(self) -> float:
        """The threshold of a check that compared nothing."""
        return self.settings.default_threshold if self.given is None else self.given

    def of(self, match_type: MatchType, text: str) -> float:
        """Return the threshold that applies to a stored text."""
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
        """Return whether a pair is similar, conflicts aside."""
        return pair.score >= threshold and (is_near(pair) or threshold < FLOOR)

    def listed(self, pair: Scored, threshold: float) -> bool:
        """Return whether a pair is shown: what is similar, and what is somewhat similar."""
        return self.reached(pair, threshold if self.given is not None else min(threshold, LISTED))

    def is_misleading(self, pair: Scored, threshold: float) -> bool:
        """Return whether a score suggests a match that is none: it means nothing here."""
        return pair.score >= threshold and not self.reached(pair, threshold)


def is_near(pair: Scored) -> bool:
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
