"""Votes: which setting each preference speaks for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError, WriteFault
from kbx_tui.evaluation.blind_preferences import (
    Better,
    Preference,
    PreferenceLog,
    ShownList,
    Votes,
    count_votes,
)
from kbx_tui.state_file import ignore

ONE, OTHER, THIRD = ("a.md", "b.md"), ("b.md", "a.md"), ("c.md",)


def preferred(query: str, better: Better, first: tuple[str, ...] = ONE) -> Preference:
    second = OTHER if first == ONE else ONE
    return Preference(query, ShownList(first), ShownList(second), better)


def test_a_preference_counts_for_the_setting_with_that_list_wherever_it_was_shown() -> None:
    given_ones = [
        preferred("p", "first"),
        preferred("q", "first", OTHER),
        preferred("r", "second", OTHER),
        preferred("s", "neither"),
    ]
    lists = dict.fromkeys("pqrs", (ONE, OTHER))
    assert count_votes(given_ones, lists) == Votes(2, 1, 1, 0)
    assert count_votes(given_ones, dict.fromkeys("pqrs", (OTHER, ONE))) == Votes(1, 2, 1, 0)


def test_only_the_first_five_of_the_lists_that_were_shown_count() -> None:
    given_ones = [preferred("p", "first")]
    assert count_votes(given_ones, {"p": (ONE, ONE)}) == Votes(0, 0, 0, 0)
    assert count_votes(given_ones, {"p": (ONE, THIRD)}) == Votes(0, 0, 0, 1)
    assert count_votes(given_ones, {"never asked": (ONE, OTHER)}) == Votes(0, 0, 0, 0)

    longer = tuple(f"{place}.md" for place in range(8))
    swapped = (*longer[:5], *reversed(longer[5:]))
    with pytest.raises(ConfigError, match="two lists that differ"):
        Preference("p", ShownList(longer), ShownList(swapped), "first")


@given(
    st.lists(
        st.tuples(
            st.sampled_from("pqrs"), st.sampled_from(["first", "second", "neither"]), st.booleans()
        )
    )
)
def test_votes_turn_round_with_the_settings(answers: list[tuple[str, Better, bool]]) -> None:
    given_ones = [
        preferred(query, better, ONE if swap else OTHER) for query, better, swap in answers
    ]
    there = count_votes(given_ones, dict.fromkeys("pqrs", (ONE, OTHER)))
    back = count_votes(given_ones, dict.fromkeys("pqrs", (OTHER, ONE)))
    assert (there.wins_a, there.wins_b, there.neither) == (back.wins_b, back.wins_a, back.neither)
    assert there.p == back.p
    assert there.wins_a + there.wins_b + there.neither == len({query for query, _, _ in answers})


QUERY = "who decides: “rollback”"
FIRST = ShownList(("memory/a b.md", "memory/ü.md"), {"alpha": 0.4})
SECOND = ShownList(("memory/ü.md",), {"alpha": 0.6})
FIRST_LIST = Preference(QUERY, FIRST, SECOND, "second", "2026-03-17T09:41:05Z", 41)


@pytest.fixture
def log(tmp_path: Path) -> PreferenceLog:
    return PreferenceLog(tmp_path, ignore)


def test_the_last_answer_on_the_same_two_lists_counts(log: PreferenceLog) -> None:
    turned = Preference(QUERY, SECOND, FIRST, "neither")
    log.add(FIRST_LIST)
    log.add(turned)
    assert log.read() == (turned,)


def test_a_preference_is_undone_only_while_it_counts(log: PreferenceLog) -> None:
    other = Preference("another", FIRST, SECOND, "first")
    log.add(FIRST_LIST)
    log.add(other)
    assert log.undo(FIRST_LIST) == FIRST_LIST
    with pytest.raises(WriteFault, match="taken back since"):
        log.undo(FIRST_LIST)
    assert log.undo() == other
    assert log.read() == ()
    with pytest.raises(WriteFault, match="no preference to undo"):
        log.undo()
