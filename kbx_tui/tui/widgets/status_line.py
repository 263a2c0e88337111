"""One line for what a person should know: an error, a notice, progress. Nothing asks for a key."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from kbx_tui.safe_text import visible
from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks

MOST_LINES = 3
"""An error that takes more is cut."""


class StatusLine(LineDrawing, Widget):
    """An error stands until something works; a notice for a moment; a hint and progress beneath."""

    COMPONENT_CLASSES = looks("bad")
    NOTICE_SECONDS = 4.0
    DEFAULT_CSS = "StatusLine { display: none; height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self.error = ""
        self.notice = ""
        self.hint = ""
        self.progress = ""
        self._timer: Timer | None = None

    def lines(self, width: int) -> list[Line]:
        """Return what stands here when there are `width` cells."""
        if self.error:
            head, *rest = wrap(self.error, max(width - 4, 1))[:MOST_LINES]
            first: Line = (Span(" ✗ ", "bad"), Span(head))
            return [first, *((Span(f"   {line}"),) for line in rest)]
        if self.notice:
            return [(Span(f" {line}"),) for line in wrap(self.notice, max(width - 2, 1))]
        words = self.hint or self.progress
        return [(Span(f" {words}", "dim"),)] if words else []

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))

    def render_line(self, y: int) -> Strip:
        lines, width = self.lines(self.size.width), self.size.width
        return self.draw(lines[y] if y < len(lines) else BLANK, width)

    def show_error(self, text: str) -> None:
        """Show an error until `clear_error`."""
        self.error = visible(text)
        self._changed()

    def clear_error(self) -> None:
        """Something worked: the error is history."""
        if self.error:
            self.error = ""
            self._changed()

    def show_notice(self, text: str) -> None:
        """Show a notice for a moment."""
        self.notice = visible(text)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.NOTICE_SECONDS, self._forget_notice)
        self._changed()

    def show_hint(self, text: str) -> None:
        """Show what might be typed; empty when there is nothing to say."""
        self.hint = text
        self._changed()

    def show_progress(self, text: str) -> None:
        """Show how far something is; empty when it is over."""
        self.progress = text
        self._changed()

    def _forget_notice(self) -> None:
        self.notice = ""
        self._changed()

    def _changed(self) -> None:
        self.display = bool(self.error or self.notice or self.hint or self.progress)
        self.refresh(layout=True)
