"""The base of widgets that are a single line."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.drawing.lines import Line, LineDrawing, fit_line, looks, width_of


class LineWidget(LineDrawing, Widget):
    """Draws the line returned by `line`, cut to the width of the widget."""

    COMPONENT_CLASSES = looks()
    DEFAULT_CSS = "LineWidget { height: 1; }"

    def line(self, width: int) -> Line:
        """Return the line to draw in `width` cells."""
        raise NotImplementedError

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return width_of(self.line(container.width)) + 1

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return self.draw(fit_line(self.line(width), width), width)
