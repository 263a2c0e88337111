"""A widget of one line."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.drawing.lines import Line, LineDrawing, fit_line, looks


class LineWidget(LineDrawing, Widget):
    """Draws what `line` returns, cut to its width."""

    COMPONENT_CLASSES = looks()
    DEFAULT_CSS = "LineWidget { height: 1; }"

    def line(self, width: int) -> Line:
        """Return what stands here when there are `width` cells."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return self.draw(fit_line(self.line(width), width), width)
