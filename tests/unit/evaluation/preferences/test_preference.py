"""Votes: which setting each preference speaks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.evaluation.blind_preferences import Better, Preference, ShownList, Votes, count_votes

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


def test_only_the_lists_that_were_shown_count() -> None:
    given_ones = [preferred("p", "first")]
    assert count_votes(given_ones, {"p": (ONE, ONE)}) == Votes(0, 0, 0, 0)
    assert count_votes(given_ones, {"p": (ONE, THIRD)}) == Votes(0, 0, 0, 1)
    assert count_votes(given_ones, {"never asked": (ONE, OTHER)}) == Votes(0, 0, 0, 0)


def test_results_below_the_first_five_make_no_difference() -> None:
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
def test_votes_turn_round_with_the_settings(
    answers: list[tuple[str, Better, bool]],
) -> None:
    given_ones = [
        preferred(query, better, ONE if swap else OTHER) for query, better, swap in answers
    ]
    there = count_votes(given_ones, dict.fromkeys("pqrs", (ONE, OTHER)))
    back = count_votes(given_ones, dict.fromkeys("pqrs", (OTHER, ONE)))
    assert (there.wins_a, there.wins_b, there.neither) == (back.wins_b, back.wins_a, back.neither)
    assert there.p == back.p
    assert there.wins_a + there.wins_b + there.neither == len({query for query, _, _ in answers})
