from __future__ import annotations

from typing import get_args

import pytest

from kbx_tui.formatting import (
    FLAT_REASONS,
    count_words,
    duration_words,
    join_words,
    score_text,
    size_words,
    stacked_bar,
)
from kbx_tui.search.ranking.rank import Reason


def test_every_reason_of_a_flat_search_has_words() -> None:
    assert FLAT_REASONS.keys() == set(get_args(Reason)) - {"entities"}


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (99_960, "100 kB"),
        (1_830_000, "1.8 MB"),
        (999_600_000, "1.0 GB"),
        (23_000_000_000, "23.0 GB"),
    ],
)
def test_sizes_have_two_or_three_digits(size: int, words: str) -> None:
    assert size_words(size) == words


@pytest.mark.parametrize(
    ("count", "one", "words"),
    [(1, "entity", "1 entity"), (1_204, "entity", "1,204 entities"), (0, "chunk", "0 chunks")],
)
def test_counts_agree_with_their_noun(count: int, one: str, words: str) -> None:
    assert count_words(count, one) == words


def test_scores_have_two_decimals_without_a_leading_zero() -> None:
    assert [score_text(score) for score in (0.0, 0.855, 1.0)] == [".00", ".85", "1.00"]


@pytest.mark.parametrize("width", [0, 1, 10, 20])
def test_a_bar_is_never_wider_than_its_place(width: int) -> None:
    for document, entity in [(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (0.33, 0.66)]:
        first, second = stacked_bar(document, entity, width)
        assert len(first + second) == round(min(document + entity, 1.0) * width)


def test_long_enumerations_say_how_many_more() -> None:
    assert join_words(["a", "b", "c", "d", "e"]) == "a, b, c, 2 more"


def test_durations_change_to_minutes_when_seconds_say_little() -> None:
    assert [duration_words(seconds) for seconds in (26.2, 99.0, 180.0)] == ["26 s", "99 s", "3 min"]
