"""What a text can be found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.lexical.terms import LONGEST_WORD, STOP_WORDS, terms_in
from kbx_tui.knowledge.folding import fold


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The teams were migrating", ["team", "migrat"]),
        ("foo_bar 3.14 don't", ["foo", "bar", "3", "14"]),
        ("Cafés in Łódź, Straße", ["cafe", "lodz", "strass"]),
        ("日本", ["日本"]),
        ("x" * (LONGEST_WORD - 1) + " " + "y" * LONGEST_WORD, ["x" * (LONGEST_WORD - 1)]),
        ("", []),
    ],
    ids=["stems", "signs", "accents", "japanese", "long", "empty"],
)
def test_a_text_has_terms(text: str, terms: list[str]) -> None:
    assert terms_in(text) == terms


@given(st.text(max_size=60))
def test_spelling_with_or_without_accents_is_the_same(text: str) -> None:
    assert terms_in(text) == terms_in(fold(text))
    assert not STOP_WORDS.intersection(terms_in(text))
