"""Pairs the user labelled, and the precision and recall they give a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.labels import LabelledScore, ThresholdMetrics

LABELS_NEEDED = 20
"""Labelled pairs from which precision and recall are shown."""
START = 0.9
"""Position of the slider before the base is open."""


def describe_saved(count: int) -> str:
    """Return the notice after a pair was labelled, the last of `count`."""
    left = LABELS_NEEDED - count
    more = f"; {left} more to measure the threshold" if left > 0 else ""
    return f"{format_count(count, 'label')} saved{more}"


def describe_threshold(
    engine: KnowledgeBase | None, labels: Sequence[LabelledScore], threshold: float | None
) -> tuple[float, str]:
    """Return the position of the slider, and a note on it. Without I/O."""
    if engine is None:
        return START, ""
    dedup = engine.settings.dedup
    if threshold is None:
        kinds = f"fact {format_score(dedup.fact_threshold)}"
        kinds += f", open item {format_score(dedup.open_item_threshold)}"
        return dedup.fact_threshold, f"by kind: {kinds}"
    metrics = engine.measure(labels, threshold)
    if metrics is None:
        left = LABELS_NEEDED - len(labels)
        return threshold, f"{left} pairs with y or n show how good it is"
    return threshold, metrics_note(metrics)


def metrics_note(metrics: ThresholdMetrics) -> str:
    """Return precision and recall first, since a narrow slider cuts the end of its note."""
    precision, recall = format_score(metrics.precision), format_score(metrics.recall)
    return f"precision {precision} recall {recall} on {metrics.labels} labels"
