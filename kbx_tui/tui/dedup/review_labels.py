"""What a person said of pairs, and how good a threshold is by that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbx_tui.formatting import count_words, score_text
from kbx_tui.tui.engine.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbx_tui.drafting.threshold_metrics import LabelledScore

NEEDED = 20
"""Pairs labelled with y or n from which on precision and recall of a threshold mean something."""
START = 0.9
"""Where the slider stands before the base is open."""


class Labels:
    """The labels of one base."""

    def __init__(self) -> None:
        self.labelled: Sequence[LabelledScore] = ()

    @property
    def count(self) -> int:
        """How many pairs are labelled."""
        return len(self.labelled)

    def kept_words(self) -> str:
        """Return what a person reads after labelling a pair."""
        left = NEEDED - self.count
        more = f"; {left} more tell how good the threshold is" if left > 0 else ""
        return f"{count_words(self.count, 'label')} kept{more}"

    def words(self, engine: Engine | None, threshold: float | None) -> tuple[float, str]:
        """Return where the slider stands, and what that means. Pure."""
        if engine is None:
            return START, ""
        dedup = engine.settings.dedup
        if threshold is None:
            kinds = f"fact {score_text(dedup.fact_threshold)}"
            kinds += f", open item {score_text(dedup.open_item_threshold)}"
            return dedup.fact_threshold, f"by kind: {kinds}"
        measured = engine.measure(self.labelled, threshold)
        if measured is None:
            return threshold, f"{NEEDED - self.count} pairs with y or n tell how good it is"
        precision, recall = score_text(measured.precision), score_text(measured.recall)
        said = f"on your {measured.labels} labels: precision {precision} recall {recall}"
        return threshold, said
