"""Textual bindings built from the command registry."""

from __future__ import annotations

from functools import cache

from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import command_by_id, commands_in


def bindings(*scopes: Scope) -> list[BindingType]:
    """Return the bindings of `scopes`; a keymap changes their keys by command id.

    They have priority, so each acts before the next key is processed. Otherwise keys typed right
    after one that moves the focus would still go to the previously focused widget.
    """
    return [
        Binding(
            command.keys,
            command.action,
            command.label,
            show=command.bar,
            tooltip=command.help,
            priority=scope not in ("app", "overlay") and not command.in_turn,
            id=command.id,
        )
        for scope in scopes
        for command in commands_in(scope)
    ]


@cache
def scopes_of(kind: type[DOMNode]) -> tuple[Scope, ...]:
    """Return the scopes of the keys bound in a class of widget or screen, inherited ones last."""
    bound = (binding for base in kind.__mro__ for binding in base.__dict__.get("BINDINGS", ()))
    ids = (binding.id for binding in bound if isinstance(binding, Binding) and binding.id)
    return tuple(dict.fromkeys(command_by_id(command_id).scope for command_id in ids))
