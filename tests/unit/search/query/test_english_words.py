"""Which words of a query may be its topic."""

import pytest

from kbx_tui.knowledge.folding import folded_words
from kbx_tui.search.query.query_words import (
    COMPOUNDS,
    NAMES_THAT_ARE_WORDS,
    asks_for_news,
    asks_for_topic,
    topic_words,
    words_for_news,
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("what did present", False),
        ("what did and present", False),  # two people were named
        ("what did ship", False),
        ("what did say", False),
        ("latest updates", False),
        ("", False),
        ("what did and disagree about", False),
        ("what does still have to do", False),
        ("who does report to", False),
        ("who leads", False),
        ("who leads the team", False),
        ("who knows the tide", True),
        ("what did say about the tide", True),
        ("who does report to on the tide", True),
        ("what did present today", True),
        ("when did present", True),
        ("tide", True),
    ],
)
def test_only_a_verb_after_what_asks_for_everything(words: str, expected: bool) -> None:
    assert asks_for_topic(folded_words(words)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("what did say about the high tide?", "high tide"),
        ("zebra", "zebra"),
        ("the cost of the ferry", "cost of the ferry"),
        ("what did say", "what did say"),
        ("", ""),
    ],
)
def test_topic_words_are_those_between_the_first_and_last_that_may_be_a_topic(
    text: str, words: str
) -> None:
    assert topic_words(text) == words


def test_compounds_begin_with_a_name_that_is_also_a_word() -> None:
    assert COMPOUNDS
    assert {compound.split("-")[0] for compound in COMPOUNDS} <= NAMES_THAT_ARE_WORDS


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("what is new", "new"),
        ("anything new", "new"),
        ("what is she up to", "up"),
        ("what is the new fare", ""),
        ("what is her new role", ""),
        ("what working hours", ""),
        ("latest news on fees", "latest news"),
        ("last meeting", "last"),
        ("last resort", ""),
    ],
)
def test_words_ask_for_the_newest_but_not_by_what_a_noun_is_called(words: str, word: str) -> None:
    assert words_for_news(words.split()) == {*word.split()}


def test_a_word_for_news_after_on_is_a_topic() -> None:
    assert asks_for_news(["latest", "on", "fees"])
    assert not asks_for_news(["on", "updates"])
