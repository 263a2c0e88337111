from typing import get_args

import pytest

from kbx_tui.formatting import (
    FLAT_REASONS,
    answer_words,
    format_age,
    format_change,
    format_count,
    format_duration,
    format_minute,
    format_p,
    format_score,
    format_size,
    join_limited,
    stacked_bar,
)
from kbx_tui.search.ranking.entities import Reason


def test_every_reason_of_a_flat_search_has_a_text() -> None:
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
    assert format_size(size) == words


@pytest.mark.parametrize(
    ("count", "singular", "words"),
    [(1, "entity", "1 entity"), (1_204, "entity", "1,204 entities"), (0, "chunk", "0 chunks")],
)
def test_counts_agree_with_their_noun(count: int, singular: str, words: str) -> None:
    assert format_count(count, singular) == words


def test_scores_have_no_leading_zero_and_changes_a_sign() -> None:
    assert [format_score(score) for score in (0.0, 0.855, 1.0)] == [".00", ".85", "1.00"]
    assert [format_score(0.6934, digits) for digits in (2, 3)] == [".69", ".693"]
    assert [format_change(each) for each in (0.06, -0.019, 1.0, -0.0001)] == [
        "+.060", "-.019", "+1.000", ".000",
    ]  # fmt: skip
    assert [format_p(each) for each in (1.0, 0.0083, 0.0004)] == ["1.000", ".008", "<.001"]
    assert answer_words(0.34, 0.29) == "relevance .34: a full answer, from .29 on"
    assert answer_words(0.2345, 0.235) == "relevance .23, 99 % of a full answer"


@pytest.mark.parametrize("width", [0, 1, 10, 20])
def test_bar_never_exceeds_its_width(width: int) -> None:
    for document, entity in [(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (0.33, 0.66)]:
        for reranker in (0.0, 0.2, (1.0 - document) / 2):
            bars = stacked_bar(document, entity, width, reranker=reranker)
            full = min(document + entity + reranker, 1.0)
            assert len("".join(bars)) == round(full * width)
            assert "".join(bars[:2]) == "".join(stacked_bar(document, entity, width))


def test_long_durations_are_in_minutes_ages_in_one_unit_and_lists_cut() -> None:
    assert join_limited(["a", "b", "c", "d", "e"]) == "a, b, c, 2 more"
    durations = (26.2, 99.0, 180.0)
    assert [format_duration(seconds) for seconds in durations] == ["26 s", "99 s", "3 min"]
    ages = [format_age(seconds) for seconds in (-5.0, 59.0, 119.0, 86_399.0, 86_400.0, 2e5)]
    assert ages == ["just now", "just now", "1 min ago", "23 h ago", "1 day ago", "2 days ago"]


@pytest.mark.parametrize("seconds", [1e300, 1e18, 32_535_216_000.0, -1.0, -1e300])
def test_a_time_that_no_clock_shows_has_a_day(seconds: float) -> None:
    assert format_minute(seconds)[:4] in ("3000", "2999", "1970", "1969")
