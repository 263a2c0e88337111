import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.folding import fold, is_word_edge, name_key, slug, strip_accents, tokens


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Jérôme Côté-Blanc", "jerome cote-blanc"),
        ("Łukasz Ødegård", "lukasz odegard"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("ﬁle", "file"),
        ("O’Brien", "o'brien"),
        ("Ἀθῆναι", "αθηναι"),
        ("が", "が"),
    ],
    ids=str,
)
def test_fold_removes_accents_and_letter_case(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_composed_and_decomposed_text_fold_to_the_same(text: str) -> None:
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@given(st.text())
def test_folding_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_lower_casing_stripped_text_keeps_offsets() -> None:
    """Mentions are compared in letter case at the offsets found in the lower-case text."""
    for code in range(0x20000):  # no script beyond has letter case
        if not 0xD800 <= code <= 0xDFFF:
            plain = strip_accents(chr(code))
            assert len(plain.lower()) == len(plain), hex(code)


def test_tokens_and_name_keys_ignore_punctuation_and_case() -> None:
    assert tokens("C++ at Node.js: ES_2015, 東京 で") == [
        "c", "at", "node", "js", "es", "2015", "東", "京", "で",
    ]  # fmt: skip
    assert name_key("Mark S. Miller") == name_key("mark s miller") == "mark s miller"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Jérôme Côté-Blanc", "jerome-cote-blanc"),
        ("A.B.  O'Brien", "ab-obrien"),
        ("Platform / Data", "platform-data"),
        ("山田太郎", "山田太郎"),
        ("?!", ""),
    ],
    ids=["accents", "punctuation", "slash", "no-ascii-form", "only-punctuation"],
)
def test_slugs_are_those_of_kbx(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_word_edges_are_punctuation_and_underscores_but_not_letters() -> None:
    assert is_word_edge("_helix_", 1, 6)
    assert is_word_edge("(helix's", 1, 6)
    assert not is_word_edge("helixes", 0, 5)
    assert not is_word_edge("7helix", 1, 6)
    assert is_word_edge("東京都", 0, 2)
