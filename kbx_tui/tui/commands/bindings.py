"""Bindings of Textual, made from the registry of commands."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from kbx_tui.tui.commands.registry import Scope, commands_in


def bindings(*scopes: Scope) -> list[BindingType]:
    """Return the bindings of some scopes; their ids let a keymap change the keys.

    They have priority: they act before the next key is looked at. Otherwise a key that moves the
    focus would leave the keys typed right after it to the widget that had it before.
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
