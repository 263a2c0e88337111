"""Textual bindings built from the command registry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from kbx_tui.tui.commands.command_table import Command, Scope
from kbx_tui.tui.commands.keymap import MENU_OF, command_by_id, commands_in


def bindings(*scopes: Scope) -> list[BindingType]:
    """Return the bindings of `scopes`; a keymap changes their keys by command id.

    They have priority, so each acts before the next key is processed. Otherwise keys typed right
    after one that moves the focus would still go to the previously focused widget.
    """
    return [
        binding
        for scope in scopes
        for command in commands_in(scope)
        for binding in (*_live(command), *_moved(command))
    ]


def _live(command: Command) -> Iterator[Binding]:
    if command.scope not in MENU_OF:
        yield Binding(
            command.keys,
            command.action,
            command.label,
            show=bool(command.bar),
            tooltip=command.help,
            priority=command.scope not in ("app", "overlay") and not command.in_turn,
            id=command.id,
        )


def _moved(command: Command) -> Iterator[Binding]:
    """Yield bindings of the keys that a command had, or that kbx.toml gives one of a menu."""
    is_in_menu = command.scope in MENU_OF
    for key in filter(None, command.moved.split(",")) if command.moved else ("",) * is_in_menu:
        yield Binding(
            key or f"<{command.id}>",
            f"app.moved({command.id!r}, {key!r})",
            command.label,
            show=False,
            priority=True,
            id=command.id if is_in_menu else None,
        )


@cache
def scopes_of(kind: type[DOMNode]) -> tuple[Scope, ...]:
    """Return the scopes of the keys bound in a class of widget or screen, inherited ones last."""
    bound = (binding for base in kind.__mro__ for binding in base.__dict__.get("BINDINGS", ()))
    ids = (binding.id for binding in bound if isinstance(binding, Binding) and binding.id)
    return tuple(dict.fromkeys(command_by_id(command_id).scope for command_id in ids))
