"""The keys that work right now, from the registry of commands; a click is as good as a key."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import Command, Scope, commands_in
from kbx_tui.tui.drawing.lines import Line, Span, looks, width_of
from kbx_tui.tui.widgets.line_widget import LineWidget

ALWAYS = ("help", "quit")
"""Kept when the bar is too short for all."""
MODES = ("explore", "dedup", "experts")
MODES_FROM = 100
"""From this width on the keys to the other modes are kept as well."""


class KeyBar(LineWidget):
    """One line at the very bottom."""

    COMPONENT_CLASSES = looks("accent")

    def __init__(self) -> None:
        super().__init__()
        self.scopes: tuple[Scope, ...] = ("screen", "app")
        self.keymap = Keymap()
        self.here = "explore"
        """The mode one is in: the key to it is left out."""

    def use(self, keymap: Keymap) -> None:
        """Show these keys from now on."""
        self.keymap = keymap
        self.refresh()

    def show(self, *scopes: Scope) -> None:
        """Show the keys of these scopes."""
        if scopes != self.scopes:
            self.scopes = scopes
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        shown = fitting(self._commands(), self.keymap, self.size.width)
        if (command := command_at(shown, self.keymap, event.x)) is not None:
            self.app.simulate_key(self.keymap.keys(command)[0])

    def line(self, width: int) -> Line:
        return key_line(self._commands(), self.keymap, width)

    def _commands(self) -> list[Command]:
        """Return the commands of the nearest scope first."""
        commands = (command for scope in self.scopes for command in commands_in(scope))
        return [command for command in commands if command.label != self.here]


def key_line(commands: Iterable[Command], keymap: Keymap, width: int) -> Line:
    """Return keys with their labels, as many as fit."""
    shown = fitting(commands, keymap, width)
    return tuple(span for command in shown for span in _key(command, keymap))


def fitting(commands: Iterable[Command], keymap: Keymap, width: int) -> list[Command]:
    """Return the commands there is room for; help and quit are left out last."""
    shown: dict[str, Command] = {}
    for command in commands:
        if command.bar:
            shown.setdefault(command.label, command)  # of two keys for one thing, the nearer
    needed = {command.id: width_of(_key(command, keymap)) for command in shown.values()}
    always = ALWAYS + (MODES if width >= MODES_FROM else ())
    room = width - sum(needed[command.id] for command in shown.values() if command.label in always)
    kept = []
    for command in shown.values():
        if command.label in always:
            kept.append(command)
        elif needed[command.id] <= room:
            room -= needed[command.id]
            kept.append(command)
    return kept


def command_at(commands: Iterable[Command], keymap: Keymap, x: int) -> Command | None:
    """Return the command drawn at cell `x`."""
    for command in commands:
        x -= width_of(_key(command, keymap))
        if x < 0:
            return command
    return None


def _key(command: Command, keymap: Keymap) -> Line:
    return (Span(f" {keymap.in_bar(command)}", "accent"), Span(f" {command.label} ", "dim"))
