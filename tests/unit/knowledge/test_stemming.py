import pytest

from kbx_tui.knowledge.languages import beginning_of, plural, singular, stem


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


@pytest.mark.parametrize(
    "words",
    [
        ("price", "prices", "pricing", "priced"),
        ("hope", "hoping"),
        ("study", "studies", "studying"),
        ("visible", "visibility"),
        ("rollback", "rollbacks"),
        ("i",),
        ("e",),
        ("",),
    ],
    ids=lambda words: words[0],
)
def test_all_forms_of_a_word_begin_with_the_beginning_of_its_stem(words: tuple[str, ...]) -> None:
    (word_stem,) = {stem(word) for word in words}
    assert all(word.startswith(beginning_of(word_stem)) for word in words)
    assert beginning_of(word_stem) or not word_stem
