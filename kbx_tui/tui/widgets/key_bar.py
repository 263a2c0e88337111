"""The keys that work right now, from the registry of commands; a click is as good as a key."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events

from kbx_tui.tui.commands import Command, Scope, commands_in
from kbx_tui.tui.drawing import Line, Span, looks, width_of
from kbx_tui.tui.widgets.line_widget import LineWidget

ALWAYS = ("help", "quit")
"""Kept when the bar is too short for all."""


class KeyBar(LineWidget):
    """One line at the very bottom."""

    COMPONENT_CLASSES = looks("accent")

    def __init__(self) -> None:
        super().__init__()
        self.scopes: tuple[Scope, ...] = ("screen", "app")

    def show(self, *scopes: Scope) -> None:
        """Show the keys of these scopes."""
        if scopes != self.scopes:
            self.scopes = scopes
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        shown = fitting(commands_in(*self.scopes), self.size.width)
        if (command := command_at(shown, event.x)) is not None:
            self.app.simulate_key(command.keys.split(",")[0])

    def line(self, width: int) -> Line:
        return key_line(commands_in(*self.scopes), width)


def key_line(commands: Iterable[Command], width: int) -> Line:
    """Return keys with their labels, as many as fit."""
    return tuple(span for command in fitting(commands, width) for span in _key(command))


def fitting(commands: Iterable[Command], width: int) -> list[Command]:
    """Return the commands there is room for; help and quit are left out last."""
    shown: dict[str, Command] = {}
    for command in commands:
        if command.bar:
            shown.setdefault(command.label, command)  # of two keys for one thing, the nearer
    needed = {command.id: width_of(_key(command)) for command in shown.values()}
    room = width - sum(needed[command.id] for command in shown.values() if command.label in ALWAYS)
    kept = []
    for command in shown.values():
        if command.label in ALWAYS:
            kept.append(command)
        elif needed[command.id] <= room:
            room -= needed[command.id]
            kept.append(command)
    return kept


def command_at(commands: Iterable[Command], x: int) -> Command | None:
    """Return the command drawn at cell `x`."""
    for command in commands:
        x -= width_of(_key(command))
        if x < 0:
            return command
    return None


def _key(command: Command) -> Line:
    return (Span(f" {command.bar}", "accent"), Span(f" {command.label}  ", "dim"))
