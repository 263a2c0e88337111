"""What the focused pane of explore displays, in words, for the help. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.explore.reasons.score_words import (
    alpha_words,
    entity_words,
    mode_words,
    result_words,
    threshold_words,
    why_words,
)
from kbx_tui.tui.explore.view import ExploreView
from kbx_tui.tui.widgets.number_slider import NumberSlider


def meanings_of(
    focused: Widget | None, view: ExploreView | None, alpha: float
) -> Iterable[tuple[str, str]]:
    """Return each thing that `focused` displays, and what it means."""
    if isinstance(focused, NumberSlider):
        words = alpha_words if focused.label == "alpha" else threshold_words
        return words(focused.value, focused.note)
    if view is None:
        return ()
    if isinstance(focused, WhyPane) and focused.why is not None:
        return why_words(focused.why, alpha)
    if isinstance(focused, EntityList) and focused.current is not None:
        return entity_words(focused.current, view.threshold)
    if isinstance(focused, ResultList) and focused.current is not None:
        return (
            *result_words(focused.current, focused.badge_of(focused.current)),
            *mode_words(view),
        )
    return ()
