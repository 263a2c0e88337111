"""Names of things are found however many of them are meant, and however `and` is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.spellings import title_keys, ways_to_write
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
        ("shoes", "shoes"),
        ("js", "js"),
        ("s", "s"),
        ("", ""),
    ],
)
def test_the_ending_of_the_plural_is_cut_where_it_is_one(word: str, cut: str) -> None:
    assert singular(word) == cut


def test_a_name_of_one_word_is_written_as_it_is_or_in_the_plural() -> None:
    assert ways_to_write(["Observable"]) == ["Observable", "Observables"]
    assert ways_to_write(["Windows"]) == ["Windows"]
    assert ways_to_write(["2026"]) == ["2026"]


def test_of_a_name_of_several_words_the_last_changes() -> None:
    assert ways_to_write(["throw expressions"]) == ["throw expressions", "throw expression"]
    assert ways_to_write(["Iterator Helper"]) == ["Iterator Helper", "Iterator Helpers"]


def test_what_is_joined_changes_together_and_in_how_it_is_joined() -> None:
    found = ways_to_write(["Record & Tuple"])
    assert found[0] == "Record & Tuple"
    assert {"Record and Tuple", "Records & Tuples", "Records and Tuples"} <= set(found)


@given(st.text(max_size=20))
def test_any_name_comes_first_as_it_is(name: str) -> None:
    assert ways_to_write([name])[0] == name
    assert all(isinstance(key, str) for key in title_keys(name))


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Withdrawing Records & Tuples", "Record and Tuple"),
        ("Records and Tuples update", "Record & Tuple"),
        ("Function.pipe & flow for Stage 1", "function pipe flow"),
        ("For-in order", "for in orders"),
    ],
)
def test_a_title_and_a_name_meet_in_a_key(title: str, name: str) -> None:
    assert any(key in other for key in title_keys(name) for other in title_keys(title))


@pytest.mark.parametrize(
    ("title", "name"), [("error and cause", "Error Cause"), ("async iterators", "Async Iteration")]
)
def test_and_is_a_word_and_another_word_is_another(title: str, name: str) -> None:
    assert not any(key in other for key in title_keys(name) for other in title_keys(title))
