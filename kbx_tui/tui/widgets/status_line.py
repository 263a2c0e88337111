"""The line for errors, notices, hints, notes and progress, none of which needs to be dismissed."""

from __future__ import annotations

from functools import partial

from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Look, Span, looks

MAX_LINES, NOTE_LINES = 4, 2
ROOM_FOR_NOTES = 20
"""Rows of a terminal from which a note stays."""
READING_SPEED = 15.0


class StatusLine(LineDrawing, Widget):
    """Shows an error until it is cleared, a notice for a while, or a hint, note or progress.

    It is an overlay on a line that `styles/frame.tcss` keeps free, so that nothing moves when a
    text appears. A notice or error that needs more lines covers those above while it is shown.
    """

    COMPONENT_CLASSES = looks("bad")
    NOTICE_SECONDS = 4.0
    """How long a short notice stays; a longer one stays as long as reading it takes."""

    error = notice = hint = note = progress = last = ""
    _is_whole = _clears = False
    _keeps_note = True
    _timer: Timer | None = None

    @property
    def text(self) -> str:
        note = self.note if self._keeps_note else ""
        return self.notice or self.error or self.hint or note or self.progress

    @property
    def is_being_read(self) -> bool:
        """Whether it shows a notice, or an error that has just come."""
        return bool(self.notice or (self.error and self._is_whole))

    def lines(self, width: int) -> list[Line]:
        if not self.text:
            return []
        is_error = self.text == self.error
        first: Span = Span(" ✗ ", "bad") if is_error else Span(" ")
        look: Look = "dim" if self.text == self.progress else "text"
        room = max(width - len(first.text) - 1, 1)
        most = MAX_LINES if self._is_whole else NOTE_LINES if self.text == self.note else 1
        lines = wrap(self.text, room) if most > 1 else [self.text]
        if len(lines) > most:
            lines[most - 1 :] = [" ".join(lines[most - 1 :])]
        blank = Span(" " * len(first.text))
        return [
            (blank if row else first, Span(fit(text, room).rstrip(), look))
            for row, text in enumerate(lines)
        ]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))

    def render_line(self, y: int) -> Strip:
        lines, width = self.lines(self.size.width), self.size.width
        return self.draw(lines[y] if y < len(lines) else BLANK, width)

    def show_error(self, text: str) -> None:
        self.error = self.last = safe_line(text)
        self.notice = ""
        self._clears = False
        self._show_whole(self.error)

    def clear_error(self, *, when_read: bool = False) -> None:
        """End the error; with `when_read` not before there was time to read it."""
        if when_read and self._is_whole:
            self._clears = True
        elif self.error:
            self.error = ""
            self._update()

    def show_notice(self, text: str) -> None:
        self.notice = self.last = safe_line(text)
        self._show_whole(self.notice)

    def clear_notice(self) -> None:
        """End a notice that is about what was before the user's last key."""
        if self.notice:
            self._settle()

    def show_again(self) -> None:
        """Show the whole text on the line again, or else the last error or notice."""
        if self.text:
            self._show_whole(self.text)
        elif last := self.note or self.last:
            self.show_notice(last)

    def show_hint(self, text: str) -> None:
        self.hint = text
        self._update()

    def show_note(self, text: str) -> None:
        """Show a note on the answer; on a small terminal only as long as reading it takes."""
        if text != self.note:
            self.note, self._keeps_note = text, True
            if text and self.app.size.height < ROOM_FOR_NOTES:
                seconds = seconds_to_read(text, self.NOTICE_SECONDS)
                self.set_timer(seconds, partial(self._end_note, text))
            self._update()

    def _end_note(self, text: str) -> None:
        self._keeps_note &= self.note != text
        self._update()

    def show_progress(self, text: str) -> None:
        self.progress = text
        self._update()

    def on_click(self, event: events.Click) -> None:
        self.show_again()

    def _show_whole(self, text: str) -> None:
        self._is_whole = True
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds_to_read(text, self.NOTICE_SECONDS), self._settle)
        self._update()

    def _settle(self) -> None:
        self.notice = ""
        if self._clears:
            self.error = ""
        self._is_whole = self._clears = False
        self._update()

    def _update(self) -> None:
        self.display = bool(self.text)
        changed = len(self.lines(self.size.width)) != self.size.height
        self.refresh(layout=changed)


def seconds_to_read(text: str, least: float) -> float:
    return max(least, 1.0 + len(text) / READING_SPEED)
