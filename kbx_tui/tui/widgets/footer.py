"""The lines at the foot of a screen: the status line, and below it the bar of keys.

Errors, notices, hints, notes and progress need not be dismissed. The bar shows keys that currently
work, which can also be clicked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from textual import events, getters
from textual.geometry import Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.command_table import Command, Scope
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    LineDrawing,
    Look,
    Span,
    fit,
    looks,
    part_at,
    width_of,
    wrap,
)
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.lines_view import LineWidget

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


ALWAYS_SHOWN = ("keys", "quit")
MOST = 6
"""More commands than these are not read; the rest is in menus, the help and the palette."""


class KeyBar(LineWidget):
    COMPONENT_CLASSES = looks("accent")
    app = getters.app(TerminalApp)
    scopes: tuple[Scope, ...] = ("screen", "app")
    first: Collection[str] = ()
    """Ids of the commands that matter most now, shown whatever others there are room for."""

    most = MOST
    labels: Mapping[str, str] = MappingProxyType({})
    """Labels in place of those of the command table, by command id; without one, none is shown."""

    def show(
        self,
        *scopes: Scope,
        first: Collection[str] = (),
        most: int = MOST,
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        before = self.scopes, self.first, self.most, self.labels
        self.scopes, self.first, self.most, self.labels = scopes, first, most, labels
        if before != (scopes, first, most, labels):
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        keymap = self.app.keymap
        shown = fitting_commands(self._commands(), keymap, self.size.width, self.first, self.most)
        parts = ((command, _key_and_label(command, keymap)) for command in shown)
        x = event.get_content_offset_capture(self).x
        if (command := part_at(parts, x)) is not None:
            self.app.simulate_key(keymap.keys(command)[0])

    def line(self, width: int) -> Line:
        return key_line(self._commands(), self.app.keymap, width, self.first, self.most)

    def _commands(self) -> list[Command]:
        return [
            replace(command, label=label)
            for scope in self.scopes
            for command in self.app.keymap.commands_in(scope)
            if (label := self.labels.get(command.id, command.label))
            and (command.bar != "small" or self.screen.has_class("-small"))
        ]


def key_line(
    commands: Iterable[Command],
    keymap: Keymap,
    width: int,
    first: Collection[str] = (),
    most: int = MOST,
) -> Line:
    shown = fitting_commands(commands, keymap, width, first, most)
    return tuple(span for command in shown for span in _key_and_label(command, keymap))


def fitting_commands(
    commands: Iterable[Command],
    keymap: Keymap,
    width: int,
    first: Collection[str] = (),
    most: int = MOST,
) -> list[Command]:
    """Return the commands that fit in `width` cells, at most `most`, always with `ALWAYS_SHOWN`.

    Those of `first` precede the others in the choice, but not in the bar.
    """
    by_label: dict[str, Command] = {}
    for command in commands:
        if command.bar or command.id in first:
            by_label.setdefault(command.label, command)  # the innermost of each label
    sizes = {command.id: width_of(_key_and_label(command, keymap)) for command in by_label.values()}
    kept = [command.id for label, command in by_label.items() if label in ALWAYS_SHOWN]
    room = width - sum(map(sizes.__getitem__, kept))
    for command in sorted(by_label.values(), key=lambda command: command.id not in first):
        if command.id not in kept and len(kept) < most and sizes[command.id] <= room:
            room -= sizes[command.id]
            kept.append(command.id)
    return [command for command in by_label.values() if command.id in kept]


def _key_and_label(command: Command, keymap: Keymap) -> Line:
    return (Span(f" {keymap.key_bar_text(command)}", "accent"), Span(f" {command.label} ", "dim"))
