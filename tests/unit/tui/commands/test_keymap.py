"""Keys can be changed, unless that would make one mean two things."""

from __future__ import annotations

import pytest

from kbx_tui.errors import ConfigError
from kbx_tui.tui.commands.keymap import Keymap, shown_key
from kbx_tui.tui.commands.registry import command


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("left_square_bracket", "["),
        ("shift+left", "shift+←"),
        ("ctrl+p", "ctrl+p"),
        ("question_mark", "?"),
        ("G", "G"),
    ],
)
def test_keys_are_shown_as_people_know_them(key: str, shown: str) -> None:
    assert shown_key(key) == shown


def test_a_command_has_the_keys_it_was_given() -> None:
    keymap = Keymap({"edit": "ctrl+e, f4"})
    assert keymap.keys(command("edit")) == ("ctrl+e", "f4")
    assert keymap.shown(command("edit")) == "ctrl+e f4"
    assert keymap.keys(command("undo")) == ("z",)


def test_keys_may_be_written_as_people_know_them() -> None:
    assert Keymap({"focus.path": "["} | {"alpha.less": "ctrl+left"}).changes["focus.path"] == (
        "left_square_bracket"
    )


def test_two_commands_may_swap_their_keys() -> None:
    keymap = Keymap({"edit": "p", "preview.toggle": "o"})
    assert keymap.keys(command("edit")) == ("p",)


def test_a_key_that_is_taken_is_refused_with_both_names() -> None:
    with pytest.raises(ConfigError, match=r"'z' would be edit .* and undo "):
        Keymap({"edit": "z"})


def test_a_key_taken_in_a_pane_is_refused_for_the_whole_screen() -> None:
    with pytest.raises(ConfigError, match=r"'j' would be edit .* and (list|text)\.down"):
        Keymap({"edit": "j"})


def test_panes_that_never_hear_keys_together_may_share_one() -> None:
    assert Keymap({"entities.mute": "n"}).keys(command("entities.mute")) == ("n",)


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no command 'alpha\.les'; did you mean alpha\.less"):
        Keymap({"alpha.les": "x"})


@pytest.mark.parametrize("keys", ["", "a,,b"])
def test_an_empty_key_is_refused(keys: str) -> None:
    with pytest.raises(ConfigError, match="names no key"):
        Keymap({"edit": keys})
