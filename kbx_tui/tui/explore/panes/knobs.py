"""The sliders for alpha and the entity threshold."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal

from kbx_tui.tui.explore.reasons.score_words import threshold_note
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import ExploreView
from kbx_tui.tui.widgets.number_slider import NumberSlider


class Knobs(Horizontal):
    """The two sliders, with notes on their effect."""

    def __init__(self) -> None:
        super().__init__()
        self.alpha = NumberSlider("alpha", 0.5, ends=("entity", "document"))
        self.threshold = NumberSlider("threshold", 0.5)

    def compose(self) -> ComposeResult:
        yield from (self.alpha, self.threshold)

    def show(self, state: SearchState) -> None:
        """Move the sliders to these settings."""
        self.alpha.show(state.alpha)
        self.threshold.show(state.threshold)

    def annotate(self, view: ExploreView | None) -> None:
        """Show the effect of the settings on this ranking; None without a query."""
        if view is None:
            self.alpha.annotate("")
            self.threshold.annotate("")
            return
        self.alpha.annotate(view.alpha_note)
        self.threshold.annotate(
            threshold_note(view.entities, view.threshold, view.mode.name),
            tuple(entity.score for entity in view.entities),
        )
