import pytest

from kbx_tui.knowledge.stemming import plural, singular


@pytest.mark.parametrize(
    ("singular_form", "plural_form"),
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
def test_regular_words_have_a_plural(singular_form: str, plural_form: str) -> None:
    assert plural(singular_form) == plural_form
    assert plural(plural_form) == plural_form


@pytest.mark.parametrize(
    ("word", "expected"),
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
def test_regular_words_have_a_singular(word: str, expected: str) -> None:
    assert singular(word) == expected
