"""One registry of commands, and no key that means two things in one place."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from kbx_tui.tui.commands import COMMANDS, SCOPE_TITLES, Scope, commands_in
from kbx_tui.tui.screens.help import help_lines
from kbx_tui.tui.widgets.key_bar import ALWAYS, key_line

TOGETHER: list[tuple[Scope, ...]] = [
    ("query", "app"),
    ("list", "screen", "app"),
    ("text", "screen", "app"),
    ("preview", "text", "screen", "app"),
    ("slider", "screen", "app"),
    ("overlay", "app"),
]
"""Scopes whose keys work at the same time."""
CLOSING = {("preview", "escape"), ("overlay", "f1")}
"""Keys that close where they also open or lead back: the same thing to a person."""


def keys_of(*scopes: Scope) -> list[str]:
    return [key for command in commands_in(*scopes) for key in command.keys.split(",")]


@pytest.mark.parametrize("scopes", TOGETHER, ids="+".join)
def test_no_key_means_two_things_at_once(scopes: tuple[Scope, ...]) -> None:
    twice = {key for key, count in Counter(keys_of(*scopes)).items() if count > 1}
    assert twice <= {key for scope, key in CLOSING if scope in scopes}


def test_ids_are_unique() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)


def test_every_scope_has_a_title_and_a_command() -> None:
    assert {command.scope for command in COMMANDS} == set(SCOPE_TITLES)


def test_help_shows_every_command_outside_the_help_itself() -> None:
    text = "\n".join("".join(span.text for span in line) for line in help_lines(74))
    for command in COMMANDS:
        if command.scope != "overlay":
            assert command.shown in text
            assert command.help.split()[0] in text


@pytest.mark.parametrize(("width", "scopes"), product([30, 50, 80, 140], TOGETHER))
def test_the_key_bar_never_loses_help_and_quit(width: int, scopes: tuple[Scope, ...]) -> None:
    line = key_line(commands_in(*scopes), width)
    text = "".join(span.text for span in line)
    assert len(text) <= width
    for command in commands_in(*scopes):
        if command.label in ALWAYS:
            assert command.label in text
