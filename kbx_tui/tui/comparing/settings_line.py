"""The line with the settings of both lists."""

from __future__ import annotations

from kbx_tui.tui.comparing.side_by_side import BOTH_FROM
from kbx_tui.tui.comparing.view import CompareView
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks
from kbx_tui.tui.widgets.line_widget import LineWidget


class SettingsLine(LineWidget):
    """A on the left, B on the right; where only B is listed, B alone."""

    COMPONENT_CLASSES = looks("strong", "accent")

    view: CompareView | None = None

    def show(self, view: CompareView | None) -> None:
        """Show the settings of this comparison; nothing for None."""
        self.view = view
        self.refresh()

    def line(self, width: int) -> Line:
        view = self.view
        if view is None:
            return BLANK
        after: Line = (Span("B ", "accent"), Span(view.after, "strong"))
        if width < BOTH_FROM:
            return (Span(" "), *after)
        half = (width - 5) // 2
        return (Span("  "), Span("A ", "accent"), Span(fit(view.before, half), "dim"), *after)
