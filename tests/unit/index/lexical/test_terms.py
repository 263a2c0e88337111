"""Terms of a text: folded, stemmed, without stop words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbx_tui.index.lexical.terms import LONGEST_WORD, STOP_WORDS, terms_in
from kbx_tui.knowledge.folding import fold


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The teams were migrating", ["team", "migrat"]),
        ("foo_bar 3.14 don't", ["foo", "bar", "3", "14"]),
        ("Cafés in Łódź, Straße", ["cafe", "lodz", "strass"]),
        ("plan日本", ["plan", "日", "本"]),
        ("x" * (LONGEST_WORD - 1) + " " + "y" * LONGEST_WORD, ["x" * (LONGEST_WORD - 1)]),
        ("", []),
    ],
    ids=["stemming", "punctuation", "accents", "each-cjk-character", "long-words", "empty"],
)
def test_terms_are_folded_and_stemmed_words(text: str, terms: list[str]) -> None:
    assert terms_in(text) == terms


@example("0\u2f00")  # a radical that folds to a CJK character
@given(st.text(max_size=60))
def test_terms_do_not_depend_on_accents(text: str) -> None:
    assert terms_in(text) == terms_in(fold(text))
    assert not STOP_WORDS.intersection(terms_in(text))
