"""The threshold observatory: what the entity threshold does with past queries."""

from __future__ import annotations

from kbx_tui.tui.drawing.lines import Line, fit_to_height, looks
from kbx_tui.tui.tune.past_queries import PastQueries, past_query_lines
from kbx_tui.tui.widgets.lines_view import TextPane


class ThresholdPane(TextPane):
    """Histogram, shares and flips; scrolls."""

    COMPONENT_CLASSES = looks("strong", "accent", "entity", "rule")

    def __init__(self) -> None:
        super().__init__()
        self.past: PastQueries | None = None

    def show(self, past: PastQueries | None) -> None:
        """Show past queries; None shows the empty state."""
        self.past = past
        self.rebuild_lines()

    def build(self, width: int) -> list[Line]:
        if self.past is None:
            return fit_to_height(self.empty_state(width), self.visible_height)
        return past_query_lines(self.past, width)
