"""One registry of commands, in which no key has two meanings in one place."""

from __future__ import annotations

from itertools import product

import pytest

from kbx_tui.tui.commands.command_table import COMMANDS, Scope
from kbx_tui.tui.commands.keymap import ACTIVE_TOGETHER, SCOPE_TITLES, Keymap, commands_in
from kbx_tui.tui.shell.help_screen import help_lines
from kbx_tui.tui.widgets.key_bar import ALWAYS_SHOWN, key_line

INNER_SCOPE_WINS = {
    ("preview", "escape"): "closes what the screen's escape would close",
    ("card", "escape"): "closes what the screen's escape would close",
    ("decision", "escape"): "closes what the screen's escape would close",
    ("overlay", "question_mark"): "closes what it opened",
}
"""Keys that two active scopes share because both commands mean the same to the user."""

MODES: dict[str, tuple[Scope, ...]] = {
    "explore": (
        *("results", "entities", "preview", "card", "screen", "judging"),
        *("list", "slider", "mode"),
    ),
    "dedup": ("drafts", "known", "review", "list", "slider", "mode"),
    "experts": ("expert_list", "experts", "list", "slider", "mode"),
    "tune": (
        *("judged_queries", "snapshots", "decision", "tune", "judging"),
        *("list", "slider", "mode"),
    ),
}
"""The scopes of each mode outside fields and texts, where letters are commands."""
KEYS_OF_ALL_MODES = (*"0123zJASOxpdwvBK", "full_stop", "space", "f4")
"""Keys that mean the same in all modes in which they work."""
OTHER_IN_ANOTHER_MODE = {
    *("a", "c", "e", "f", "m", "n", "y", "minus", "slash", "enter"),
    *("left", "right", "h", "l", "left_square_bracket", "right_square_bracket"),
}
"""Keys from before that rule, such as `a`, which adds an entity or applies all drafts."""


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_no_key_has_two_meanings_at_once(scopes: tuple[Scope, ...]) -> None:
    keymap, seen = Keymap(), set[str]()
    for scope in scopes:
        inner = scopes[: scopes.index(scope)]
        for command in commands_in(scope):
            for key in keymap.keys(command):
                assert key not in seen or any((near, key) in INNER_SCOPE_WINS for near in inner), (
                    key
                )
                seen.add(key)


def test_key_that_several_modes_share_means_the_same_in_all() -> None:
    labels: dict[str, dict[str, set[str]]] = {}
    for mode, scopes in MODES.items():
        for command in commands_in(*scopes):
            for key in Keymap().keys(command):
                labels.setdefault(key, {}).setdefault(mode, set()).add(command.label)
    differing = {
        key
        for key, by_mode in labels.items()
        if len({frozenset(meanings) for meanings in by_mode.values()}) > 1
    }
    assert differing == OTHER_IN_ANOTHER_MODE
    assert OTHER_IN_ANOTHER_MODE.isdisjoint(KEYS_OF_ALL_MODES)


def test_command_ids_are_unique() -> None:
    ids = [command.id for command in COMMANDS]
    assert len(set(ids)) == len(ids)


def test_every_scope_has_a_title_a_command_and_is_active_somewhere() -> None:
    scopes = {command.scope for command in COMMANDS}
    assert scopes == set(SCOPE_TITLES) == {scope for group in ACTIVE_TOGETHER for scope in group}


def test_pairs_refer_to_existing_commands() -> None:
    ids = {command.id for command in COMMANDS}
    assert {command.pair for command in COMMANDS if command.pair} <= ids


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_help_shows_every_command_with_active_scopes_first(scopes: tuple[Scope, ...]) -> None:
    keymap = Keymap()
    text = "\n".join("".join(span.text for span in line) for line in help_lines(scopes, keymap, 74))
    for command in COMMANDS:
        if command.scope in scopes or command.scope != "overlay":
            assert keymap.display_keys(command) in text
            assert command.help.split()[0] in text
    titles = [SCOPE_TITLES[scope] for scope in (*scopes, *set(SCOPE_TITLES) - set(scopes))]
    offsets = [text.index(title) for title in titles if title in text]
    assert offsets[: len(scopes)] == sorted(offsets[: len(scopes)])


@pytest.mark.parametrize(("width", "scopes"), product([30, 50, 80, 140], ACTIVE_TOGETHER[:8]))
def test_key_bar_keeps_help_and_quit_at_any_width(width: int, scopes: tuple[Scope, ...]) -> None:
    commands = [command for scope in scopes for command in commands_in(scope)]
    text = "".join(span.text for span in key_line(commands, Keymap(), width))
    assert len(text) <= width
    for command in commands:
        if command.label in ALWAYS_SHOWN and command.bar:
            assert command.label in text
