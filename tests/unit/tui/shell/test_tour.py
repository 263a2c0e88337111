"""The steps of the tour: each waits for its key."""

from __future__ import annotations

from kbx_tui.tui.commands.keymap import Keymap, command_by_id
from kbx_tui.tui.shell.tour import STEPS, Tour


def test_each_step_waits_for_its_key() -> None:
    keymap = Keymap({"alpha.more": "ctrl+g"})

    def keys_of(command_id: str) -> tuple[str, ...]:
        return keymap.keys(command_by_id(command_id))

    tour = Tour()
    assert tour.words(keymap.key_of, "row 5") == ""
    tour.start()
    shown = []
    while tour.step is not None:
        assert not tour.take("f9", keys_of)
        shown.append(tour.words(keymap.key_of, "row 5"))
        assert tour.take(keys_of(tour.step.command)[0], keys_of)
    assert len(shown) == len(STEPS) == 6
    assert shown[2].startswith("3/6  Press ctrl+g and watch row 5 move")
    tour.start()
    tour.end()
    assert tour.words(keymap.key_of, "") == ""


def test_a_press_that_moves_nothing_asks_for_another() -> None:
    keymap, tour = Keymap(), Tour()

    def keys_of(command_id: str) -> tuple[str, ...]:
        return keymap.keys(command_by_id(command_id))

    tour.start()
    for step in STEPS[:2]:
        assert tour.take(keys_of(step.command)[0], keys_of)
    tour.wait("f9", keys_of)
    assert tour.words(keymap.key_of, "row 5").startswith("3/6  Press ]")
    tour.wait(keys_of(STEPS[2].command)[0], keys_of)
    assert tour.words(keymap.key_of, "row 5").startswith("3/6  No row has moved yet. Press ] again")
