"""The line for errors, notices, hints, notes and progress. None needs to be dismissed."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks

MAX_ERROR_LINES = 3
"""A longer error is cut."""


class StatusLine(LineDrawing, Widget):
    """Shows an error until it is cleared, a notice for a moment, or a hint, note or progress."""

    COMPONENT_CLASSES = looks("bad")
    NOTICE_SECONDS = 4.0
    DEFAULT_CSS = "StatusLine { display: none; height: auto; }"

    error = notice = hint = note = progress = ""
    _timer: Timer | None = None

    def lines(self, width: int) -> list[Line]:
        """Return the lines to draw in `width` cells."""
        if self.error:
            first, *rest = wrap(self.error, max(width - 4, 1))[:MAX_ERROR_LINES]
            first_line: Line = (Span(" ✗ ", "bad"), Span(first))
            return [first_line, *((Span(f"   {text}"),) for text in rest)]
        if self.notice:
            return [(Span(f" {text}"),) for text in wrap(self.notice, max(width - 2, 1))]
        if self.note and not self.hint:
            return [(Span(f" {text}", "dim"),) for text in wrap(self.note, max(width - 2, 1))]
        text = self.hint or self.progress
        return [(Span(f" {text}", "dim"),)] if text else []

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))

    def render_line(self, y: int) -> Strip:
        lines, width = self.lines(self.size.width), self.size.width
        return self.draw(lines[y] if y < len(lines) else BLANK, width)

    def show_error(self, text: str) -> None:
        """Show an error until `clear_error`."""
        self.error = safe_line(text)
        self._update()

    def clear_error(self) -> None:
        """Remove the error, once something has worked again."""
        if self.error:
            self.error = ""
            self._update()

    def show_notice(self, text: str) -> None:
        """Show a notice for `NOTICE_SECONDS`."""
        self.notice = safe_line(text)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.NOTICE_SECONDS, self._clear_notice)
        self._update()

    def show_hint(self, text: str) -> None:
        """Show what could be typed; an empty text removes the hint."""
        self.hint = text
        self._update()

    def show_note(self, text: str) -> None:
        """Show what to know about the answer on the screen; an empty text removes the note."""
        if text != self.note:
            self.note = text
            self._update()

    def show_progress(self, text: str) -> None:
        """Show the progress of a task; an empty text removes it."""
        self.progress = text
        self._update()

    def _clear_notice(self) -> None:
        self.notice = ""
        self._update()

    def _update(self) -> None:
        self.display = bool(self.error or self.notice or self.hint or self.note or self.progress)
        self.refresh(layout=True)
