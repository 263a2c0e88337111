"""What the app offers in a browser: no command of the machine, and keys that a browser leaves."""

from __future__ import annotations

import pytest

from kbx_tui.tui.commands.command_table import COMMANDS
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.offer import (
    BROWSER_KEYS,
    KEPT_BY_BROWSERS,
    NOT_IN_A_BROWSER,
    WRITES,
    Offer,
    offer_in_browser,
)
from kbx_tui.tui.commands.registry import ACTIVE_TOGETHER, SCOPE_TITLES, command_by_id
from kbx_tui.tui.shell.help_screen import help_lines

READER = offer_in_browser(allow_writes=False, has_several_bases=False)
WRITER = offer_in_browser(allow_writes=True, has_several_bases=True)
OFFERS = pytest.mark.parametrize("offer", [READER, WRITER], ids=["reader", "writer"])


def test_tables_name_existing_commands() -> None:
    ids = {command.id for command in COMMANDS}
    assert {*NOT_IN_A_BROWSER, *WRITES, *BROWSER_KEYS} <= ids
    assert len(set(WRITES)) == len(WRITES)


def test_commands_of_the_machine_are_refused_whatever_the_options() -> None:
    for offer in (READER, WRITER):
        assert NOT_IN_A_BROWSER.items() <= offer.refused.items()
    assert {"mode.together", *WRITES} <= READER.refused.keys()
    assert not {"mode.together", *WRITES} & WRITER.refused.keys()


@OFFERS
def test_refused_commands_are_nowhere_shown(offer: Offer) -> None:
    keymap = Keymap(offer=offer)
    offered = {command.id for command in keymap.commands_in(*SCOPE_TITLES)}
    assert offered == {command.id for command in COMMANDS} - offer.refused.keys()
    shown = "\n".join(
        "".join(span.text for span in line) for line in help_lines(("screen",), keymap, 200)
    )
    for command_id, reason in offer.refused.items():
        assert keymap.refusal(command_id) == reason
        assert command_by_id(command_id).help not in shown


@OFFERS
def test_first_key_of_every_command_is_one_that_browsers_leave(offer: Offer) -> None:
    keymap = Keymap(offer=offer)
    first_keys = {
        command.id: keymap.keys(command)[0] for command in keymap.commands_in(*SCOPE_TITLES)
    }
    assert not {name for name, key in first_keys.items() if key in KEPT_BY_BROWSERS}


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_no_key_of_a_browser_has_two_meanings_at_once(scopes: tuple[str, ...]) -> None:
    keymap = Keymap(offer=WRITER)
    for command_id in BROWSER_KEYS:
        command = command_by_id(command_id)
        if command.scope in scopes:
            others = [other for other in COMMANDS if other.scope in scopes and other is not command]
            taken = {key for other in others for key in keymap.keys(other)}
            assert not taken & set(keymap.keys(command))


def test_keys_of_kbx_toml_go_before_those_of_a_browser() -> None:
    keymap = Keymap({"mode.explore": "ctrl+e"}, WRITER)
    assert keymap.keys(command_by_id("mode.explore")) == ("ctrl+e",)
    assert keymap.key_of("mode.index") == "9"
