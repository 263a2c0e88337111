"""Keys can be changed unless one would then have two meanings."""

from __future__ import annotations

import pytest

from kbx_tui.errors import ConfigError
from kbx_tui.tui.commands.keymap import Keymap, command_by_id, display_key


@pytest.mark.parametrize(
    ("key", "display"),
    [
        ("left_square_bracket", "["),
        ("shift+left", "shift+←"),
        ("ctrl+p", "ctrl+p"),
        ("question_mark", "?"),
        ("G", "G"),
    ],
)
def test_keys_are_displayed_by_their_familiar_names(key: str, display: str) -> None:
    assert display_key(key) == display


def test_changed_keys_replace_those_of_the_table() -> None:
    keymap = Keymap({"edit": "ctrl+e, f9"})
    assert keymap.keys(command_by_id("edit")) == ("ctrl+e", "f9")
    assert keymap.display_keys(command_by_id("edit")) == "ctrl+e f9"
    assert keymap.keys(command_by_id("undo")) == ("z",)


def test_keys_may_be_given_by_their_familiar_names() -> None:
    keymap = Keymap({"focus.path": "[", "alpha.less": "ctrl+left"})
    assert keymap.changes["focus.path"] == "left_square_bracket"


def test_two_commands_may_swap_their_keys() -> None:
    keymap = Keymap({"edit": "p", "preview.toggle": "o"})
    assert keymap.keys(command_by_id("edit")) == ("p",)


def test_a_key_in_use_is_refused_and_both_commands_are_named() -> None:
    with pytest.raises(ConfigError, match=r"'z' would be both edit .* and undo "):
        Keymap({"edit": "z"})


def test_a_key_used_in_a_pane_is_refused_for_the_whole_screen() -> None:
    with pytest.raises(ConfigError, match=r"'j' would be both edit .* and (list|text)\.down"):
        Keymap({"edit": "j"})


def test_panes_that_are_never_active_together_may_share_a_key() -> None:
    assert Keymap({"entities.mute": "n"}).keys(command_by_id("entities.mute")) == ("n",)


def test_an_unknown_command_id_suggests_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"no command 'alpha\.les'; did you mean alpha\.less"):
        Keymap({"alpha.les": "x"})


@pytest.mark.parametrize("keys", ["", "a,,b"])
def test_an_empty_key_is_refused(keys: str) -> None:
    with pytest.raises(ConfigError, match="names no key"):
        Keymap({"edit": keys})
