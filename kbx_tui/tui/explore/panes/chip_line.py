"""A line of chips over a border."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.drawing.lines import BLANK, Line, fit_line
from kbx_tui.tui.widgets.line_widget import LineWidget


class ChipLine(LineWidget):
    """Names keys only where there is room for all of the line."""

    chips: Line = BLANK
    without_keys: Line = BLANK

    def line(self, width: int) -> Line:
        return self.chips

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        parent = self.parent
        room = parent.content_region.right - self.region.x if isinstance(parent, Widget) else width
        return self.draw(fit_line(self.chips if width <= room else self.without_keys, width), width)
