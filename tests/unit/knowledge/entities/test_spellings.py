"""Names of things are found however many of them are meant, and however `and` is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.entities.spellings import other_spellings, title_keys
from kbx_tui.knowledge.stemming import plural, singular


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("record", "records"),
        ("query", "queries"),
        ("box", "boxes"),
        ("branch", "branches"),
        ("key", "keys"),
        ("BigInt", "BigInts"),
        ("API", "APIs"),
    ],
)
def test_a_word_in_the_plural(one: str, several: str) -> None:
    assert plural(one) == several
    assert plural(several) == several


@pytest.mark.parametrize(
    ("word", "cut"),
    [
        ("records", "record"),
        ("queries", "query"),
        ("helpers", "helper"),
        ("types", "type"),
        ("class", "class"),
        ("status", "status"),
        ("classes", "class"),
        ("boxes", "box"),
        ("branches", "branch"),
        ("analysis", "analysis"),
        ("series", "series"),
        ("shoes", "shoes"),
        ("js", "js"),
        ("s", "s"),
        ("", ""),
    ],
)
def test_the_ending_of_the_plural_is_cut_where_it_is_one(word: str, cut: str) -> None:
    assert singular(word) == cut


def test_a_name_of_one_word_is_written_in_the_plural_too_and_never_cut() -> None:
    assert other_spellings("Observable") == ["Observables"]
    for name in ("Windows", "2026", "日本", "US", "News"):
        assert other_spellings(name) == []


def test_of_a_name_of_several_words_the_last_changes() -> None:
    assert other_spellings("throw expressions") == ["throw expression"]
    assert other_spellings("Iterator Helper") == ["Iterator Helpers"]
    assert other_spellings("Private Classes") == ["Private Class"]
    assert other_spellings("Canvas Design") == ["Canvas Designs"]


@pytest.mark.parametrize("name", ["Record & Tuple", "Records and Tuples"])
def test_what_is_joined_changes_together_and_in_how_it_is_joined(name: str) -> None:
    ways = {"Record and Tuple", "Records & Tuples", "Records and Tuples", "Record & Tuple"}
    assert ways <= {name, *other_spellings(name)}


@given(st.text(max_size=20))
def test_any_text_is_a_name_and_a_title(name: str) -> None:
    assert name not in other_spellings(name)
    assert title_keys(name)


def test_a_title_is_looked_through_without_punctuation_and_with_and() -> None:
    assert title_keys("For-in order") == ("for in order",)
    assert title_keys("Records & Tuples!") == ("records tuples", "records and tuples")
