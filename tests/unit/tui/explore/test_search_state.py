"""What is asked for, taken back, and said as a command line."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import pairwise

import pytest

from kbx_tui.tui.explore.search_state import (
    Asking,
    Undo,
    change_words,
    changed_fields,
    command_line,
)


def play(*askings: Asking) -> Undo:
    undo = Undo()
    for before, after in pairwise(askings):
        undo.remember(before, changed_fields(before, after))
    return undo


def test_undo_goes_back_one_change_at_a_time() -> None:
    one, two, three = Asking(), Asking(path="memory"), Asking(path="memory", mode="flat")
    undo = play(one, two, three)
    assert undo.back(three) == two
    assert undo.back(two) == one
    assert undo.back(one) is None


def test_moving_a_slider_in_one_go_is_one_step() -> None:
    askings = [Asking(alpha=step / 20) for step in range(10, 18)]
    undo = play(*askings)
    assert undo.back(askings[-1]) == askings[0]


def test_another_change_between_makes_two_steps_of_a_slider() -> None:
    askings = [Asking(alpha=0.5), Asking(alpha=0.6), Asking(alpha=0.6, mode="flat")]
    askings.append(replace(askings[-1], alpha=0.7))
    undo = play(*askings)
    assert undo.back(askings[-1]) == askings[-2]


def test_typing_is_no_step_and_stays_when_something_is_taken_back() -> None:
    askings = [Asking(), Asking(mode="flat"), Asking(mode="flat", query="alice")]
    undo = play(*askings)
    assert undo.back(askings[-1]) == Asking(query="alice")


def test_undo_says_what_it_did() -> None:
    before = Asking(alpha=0.7, muted=frozenset({"person:alice-chen"}))
    after = Asking(alpha=0.5)
    words = change_words(before, after, {"person:alice-chen": "Alice Chen"}.__getitem__)
    assert words == "alpha is .50 again; muted: Alice Chen as before"


@pytest.mark.parametrize(
    ("asking", "words"),
    [
        (Asking(query="alice"), ["kbx", "search", "alice"]),
        (Asking(query="a b's"), ["kbx", "search", "a b's"]),
        (Asking(query="-x"), ["kbx", "search", "--", "-x"]),
        (Asking(query="a", path="m/*"), ["kbx", "search", "--path", "m/*", "a"]),
        (Asking(query="a", mode="fast", alpha=0.9), ["kbx", "search", "--fast", "a"]),
        (Asking(query="a", mode="flat"), ["kbx", "search", "--no-hierarchy", "a"]),
        (
            Asking(query="a", alpha=0.65, threshold=0.4),
            ["kbx", "search", "--hierarchy-alpha", "0.65", "--hierarchy-threshold", "0.4", "a"],
        ),
    ],
)
def test_a_command_line_says_what_is_not_default(asking: Asking, words: list[str]) -> None:
    assert shlex.split(command_line(asking, Asking())) == words


def test_a_command_line_names_the_base_when_given() -> None:
    line = command_line(Asking(query="a"), Asking(), "/my notes")
    assert line == "kbx search --kb '/my notes' a"
