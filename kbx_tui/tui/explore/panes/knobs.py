"""The sliders, and what they say about the ranking."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal

from kbx_tui.tui.explore.panes.entity_list import passing
from kbx_tui.tui.explore.search_state import Asking
from kbx_tui.tui.explore.view import ExploreView
from kbx_tui.tui.widgets.number_slider import NumberSlider


class Knobs(Horizontal):
    """Alpha and threshold."""

    def compose(self) -> ComposeResult:
        yield NumberSlider("alpha", 0.5, ends=("entity", "document"))
        yield NumberSlider("threshold", 0.5)

    @property
    def alpha(self) -> NumberSlider:
        """The slider between entity and document."""
        return self.query_one("#alpha", NumberSlider)

    @property
    def threshold(self) -> NumberSlider:
        """The slider of the entity threshold."""
        return self.query_one("#threshold", NumberSlider)

    def show(self, asking: Asking) -> None:
        """Show how the knobs stand."""
        self.alpha.show(asking.alpha)
        self.threshold.show(asking.threshold)

    def annotate(self, view: ExploreView) -> None:
        """Say what the knobs mean for this ranking."""
        self.alpha.annotate(view.alpha_note)
        found, count = len(view.entities), passing(view.entities, view.threshold)
        self.threshold.annotate(
            f"{count} of {found} entities reach it" if found else "",
            tuple(entity.score for entity in view.entities),
        )
