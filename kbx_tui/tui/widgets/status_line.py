"""One line for what a person should know: an error, a notice, progress. Nothing asks for a key."""

from __future__ import annotations

from textual.timer import Timer

from kbx_tui.tui.drawing import Line, Span, looks
from kbx_tui.tui.widgets.line_widget import LineWidget


class StatusLine(LineWidget):
    """An error stands until something works; a notice for a moment; progress underneath both."""

    COMPONENT_CLASSES = looks("bad")
    NOTICE_SECONDS = 4.0
    DEFAULT_CSS = "StatusLine { display: none; }"

    def __init__(self) -> None:
        super().__init__()
        self.error = ""
        self.notice = ""
        self.progress = ""
        self._timer: Timer | None = None

    def line(self, width: int) -> Line:
        if self.error:
            return (Span(" ✗ ", "bad"), Span(self.error))
        if self.notice:
            return (Span(f" {self.notice}"),)
        return (Span(f" {self.progress}", "dim"),) if self.progress else ()

    def show_error(self, text: str) -> None:
        """Show an error until `clear_error`."""
        self.error = text
        self._changed()

    def clear_error(self) -> None:
        """Something worked: the error is history."""
        if self.error:
            self.error = ""
            self._changed()

    def show_notice(self, text: str) -> None:
        """Show a notice for a moment."""
        self.notice = text
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.NOTICE_SECONDS, self._forget_notice)
        self._changed()

    def show_progress(self, text: str) -> None:
        """Show how far something is; empty when it is over."""
        self.progress = text
        self._changed()

    def _forget_notice(self) -> None:
        self.notice = ""
        self._changed()

    def _changed(self) -> None:
        self.display = bool(self.error or self.notice or self.progress)
        self.refresh()
