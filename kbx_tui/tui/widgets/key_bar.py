"""The bar of keys that currently work; they can also be clicked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual import events, getters

from kbx_tui.tui.commands.command_table import Command, Scope
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, Span, looks, part_at, width_of
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.lines_view import LineWidget
from kbx_tui.tui.widgets.number_slider import NumberSlider

ALWAYS_SHOWN = ("keys", "quit")
MOST = 7
"""More commands than these are not read; the rest is in menus, the help and the palette."""


class KeyBar(LineWidget):
    COMPONENT_CLASSES = looks("accent")
    app = getters.app(TerminalApp)
    scopes: tuple[Scope, ...] = ("screen", "app")

    def show(self, *scopes: Scope) -> None:
        self.scopes = scopes
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        keymap = self.app.keymap
        shown = fitting_commands(self._commands(), keymap, self.size.width)
        parts = ((command, _key_and_label(command, keymap)) for command in shown)
        x = event.get_content_offset_capture(self).x
        if (command := part_at(parts, x)) is not None:
            self.app.simulate_key(keymap.keys(command)[0])

    def line(self, width: int) -> Line:
        return key_line(self._commands(), self.app.keymap, width)

    def _commands(self) -> list[Command]:
        focused = self.screen.focused
        name = focused.label if isinstance(focused, NumberSlider) else ""
        return [
            replace(command, label=name) if name and command.id == "slider.less" else command
            for scope in self.scopes
            for command in self.app.keymap.commands_in(scope)
            if command.bar != "small" or self.screen.has_class("-small")
        ]


def key_line(commands: Iterable[Command], keymap: Keymap, width: int) -> Line:
    shown = fitting_commands(commands, keymap, width)
    return tuple(span for command in shown for span in _key_and_label(command, keymap))


def fitting_commands(commands: Iterable[Command], keymap: Keymap, width: int) -> list[Command]:
    """Return the commands that fit in `width` cells, at most 7, always with `ALWAYS_SHOWN`."""
    by_label: dict[str, Command] = {}
    for command in commands:
        if command.bar:
            by_label.setdefault(command.label, command)  # the innermost of each label
    sizes = {command.id: width_of(_key_and_label(command, keymap)) for command in by_label.values()}
    kept = [command for label, command in by_label.items() if label in ALWAYS_SHOWN]
    room = width - sum(sizes[command.id] for command in kept)
    shown, others = [], MOST - len(kept)
    for label, command in by_label.items():
        if label in ALWAYS_SHOWN:
            shown.append(command)
        elif others and sizes[command.id] <= room:
            room -= sizes[command.id]
            others -= 1
            shown.append(command)
    return shown


def _key_and_label(command: Command, keymap: Keymap) -> Line:
    return (Span(f" {keymap.key_bar_text(command)}", "accent"), Span(f" {command.label} ", "dim"))
