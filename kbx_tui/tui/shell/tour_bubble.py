"""The bubble that shows a step of the tour, above the panes."""

from __future__ import annotations

from rich.cells import cell_len
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks


class TourBubble(LineDrawing, Widget):
    """Hidden without a step. A click ends the tour, as esc does."""

    COMPONENT_CLASSES = looks("strong")
    DEFAULT_CSS = "TourBubble { display: none; height: auto; }"

    words = ""

    def show(self, words: str) -> None:
        """Show a step; hide the bubble if there is none."""
        if words == self.words:
            return
        self.words = words
        self.display = bool(words)
        self.border_subtitle = "esc ends the tour"
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(wrap(self.words, max(width, 1)))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return min(cell_len(self.words), container.width)

    def render_line(self, y: int) -> Strip:
        lines = wrap(self.words, max(self.size.width, 1))
        line: Line = (Span(lines[y], "strong"),) if y < len(lines) else BLANK
        return self.draw(line, self.size.width)

    async def on_click(self) -> None:
        await self.run_action("screen.end_tour")
