"""The bar of keys that currently work; they can also be clicked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from textual import events, getters

from kbx_tui.tui.commands.command_table import Command, Scope
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, Span, looks, part_at, width_of
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.lines_view import LineWidget

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

    def show(self, *scopes: Scope, first: Collection[str] = (), most: int = MOST) -> None:
        self.scopes, self.first, self.most = scopes, first, most
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
        labels = getattr(self.screen.focused, "key_labels", {})
        return [
            replace(command, label=labels.get(command.id, command.label))
            for scope in self.scopes
            for command in self.app.keymap.commands_in(scope)
            if command.bar != "small" or self.screen.has_class("-small")
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
