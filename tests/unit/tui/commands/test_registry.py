"""One registry of commands, and no key that means two things in one place."""

from __future__ import annotations

from itertools import product

import pytest

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import (
    ACTIVE_TOGETHER,
    SCOPE_TITLES,
    Scope,
    all_commands,
    commands_in,
)
from kbx_tui.tui.shell.help_screen import help_lines
from kbx_tui.tui.widgets.key_bar import ALWAYS, key_line

NEARER_WINS = {
    ("preview", "escape"): "closes what the screen's escape would close",
    ("card", "escape"): "the same",
    ("overlay", "question_mark"): "closes what it opened",
}
"""Keys that two scopes have at one time, to one person the same thing."""


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_no_key_means_two_things_at_once(scopes: tuple[Scope, ...]) -> None:
    keymap, seen = Keymap(), set[str]()
    for scope in scopes:
        for one in commands_in(scope):
            for key in keymap.keys(one):
                below = scopes[: scopes.index(scope)]
                assert key not in seen or any((near, key) in NEARER_WINS for near in below), key
                seen.add(key)


def test_ids_are_unique() -> None:
    ids = [one.id for one in all_commands()]
    assert len(set(ids)) == len(ids)


def test_every_scope_has_a_title_a_command_and_is_active_somewhere() -> None:
    scopes = {one.scope for one in all_commands()}
    assert scopes == set(SCOPE_TITLES) == {scope for group in ACTIVE_TOGETHER for scope in group}


def test_pairs_name_each_others_ids() -> None:
    ids = {one.id for one in all_commands()}
    assert {one.pair for one in all_commands() if one.pair} <= ids


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_help_shows_every_command_the_near_ones_first(scopes: tuple[Scope, ...]) -> None:
    keymap = Keymap()
    text = "\n".join("".join(span.text for span in line) for line in help_lines(scopes, keymap, 74))
    for one in all_commands():
        if one.scope in scopes or one.scope != "overlay":
            assert keymap.shown(one) in text
            assert one.help.split()[0] in text
    titles = [SCOPE_TITLES[scope] for scope in (*scopes, *set(SCOPE_TITLES) - set(scopes))]
    places = [text.index(title) for title in titles if title in text]
    assert places[: len(scopes)] == sorted(places[: len(scopes)])


@pytest.mark.parametrize(("width", "scopes"), product([30, 50, 80, 140], ACTIVE_TOGETHER[:8]))
def test_the_key_bar_never_loses_help_and_quit(width: int, scopes: tuple[Scope, ...]) -> None:
    commands = [one for scope in scopes for one in commands_in(scope)]
    line = key_line(commands, Keymap(), width)
    text = "".join(span.text for span in line)
    assert len(text) <= width
    for one in commands:
        if one.label in ALWAYS and one.bar:
            assert one.label in text
