"""Topics to ask for are words of titles that a few documents use often."""

from __future__ import annotations

import pytest

from kbx_tui.search.browse import titles_about, topic_words_of

TITLES = ["Rye bread", "Bread oven", "Weekly list", "List of books", "Tide tables", "Ada Byron"]
OCCURRENCES = {"bread": (3, 9), "list": (5, 6), "tide": (2, 4), "tables": (2, 2), "byron": (2, 9)}


def topics(number: int = 3, names: tuple[str, ...] = ("Ada Byron",)) -> list[str]:
    return topic_words_of(TITLES, lambda word: OCCURRENCES.get(word, (1, 1)), names, number)


def test_words_used_often_in_few_documents_come_first() -> None:
    assert topics() == ["bread", "tide", "tables"]
    assert topics(1) == ["bread"]


def test_names_and_words_of_requests_are_not_topics() -> None:
    assert "byron" not in topics(9)
    assert "list" not in topics(9)  # `list` asks for something
    assert topics(1, names=()) == ["byron"]


def test_no_titles_have_no_topics() -> None:
    assert topic_words_of([], lambda word: (0, 0), (), 3) == []


@pytest.mark.parametrize(
    ("word", "asked"),
    [("bread", "Rye bread"), ("tide", "Tide tables"), ("oven", "oven"), ("gone", "gone")],
)
def test_a_topic_is_asked_for_by_its_shortest_title(word: str, asked: str) -> None:
    assert titles_about([word], [*TITLES[:1], "How to build an oven of clay", *TITLES[2:]]) == [
        asked
    ]
