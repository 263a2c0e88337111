from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.entity_names import other_spellings, title_keys


def test_single_word_name_has_a_plural_but_no_singular() -> None:
    assert other_spellings("Observable") == ["Observables"]
    for name in ("Windows", "2026", "日本", "US", "News"):
        assert other_spellings(name) == []


def test_last_word_of_a_name_changes_number() -> None:
    assert other_spellings("throw expressions") == ["throw expression"]
    assert other_spellings("Iterator Helper") == ["Iterator Helpers"]
    assert other_spellings("Private Classes") == ["Private Class"]
    assert other_spellings("Canvas Design") == ["Canvas Designs"]


@pytest.mark.parametrize("name", ["Record & Tuple", "Records and Tuples"])
def test_words_joined_by_and_or_ampersand_change_number_together(name: str) -> None:
    spellings = {"Record and Tuple", "Records & Tuples", "Records and Tuples", "Record & Tuple"}
    assert spellings <= {name, *other_spellings(name)}


@given(st.text(max_size=20))
def test_any_text_has_spellings_and_title_keys(name: str) -> None:
    assert name not in other_spellings(name)
    assert title_keys(name)


def test_title_keys_drop_punctuation_and_read_ampersand_as_and() -> None:
    assert title_keys("For-in order") == ("for in order",)
    assert title_keys("Records & Tuples!") == ("records tuples", "records and tuples")
