"""A snippet is the best passage on one line, with its matches marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.results.snippets import (
    SNIPPET_LENGTH,
    lower_in_place,
    make_snippet,
    match_spans,
)


@given(st.text(max_size=600), st.text(max_size=60))
def test_snippet_is_one_line_and_contains_its_matches(body: str, query: str) -> None:
    snippet = make_snippet(body, 1, query)
    assert len(snippet.text) <= SNIPPET_LENGTH
    assert "\n" not in snippet.text
    for start, end in snippet.matches:
        assert 0 <= start < end <= len(snippet.text)
    assert 1 <= snippet.line_start <= snippet.line_end <= body.count("\n") + 1


def test_passage_with_most_words_wins() -> None:
    body = "A budget.\n\n" + "Nothing here. " * 40 + "\n\nThe budget of the migration grew.\n"
    snippet = make_snippet(body, 10, "migration budget")
    assert snippet.text == "The budget of the migration grew."
    assert [snippet.text[a:b] for a, b in snippet.matches] == ["budget", "migration"]
    assert snippet.line_start == 14
    assert snippet.terms == (("migration", 1), ("budget", 2))


def test_heading_with_a_match_is_complete() -> None:
    assert make_snippet("# About Gardens\n", 1, "gardens").heading == "About Gardens"


def test_inflected_words_match() -> None:
    snippet = make_snippet("They were migrating databases.", 1, "database migration")
    assert [snippet.text[a:b] for a, b in snippet.matches] == ["migrating", "databases"]


def test_text_below_a_heading_is_preferred_to_the_heading() -> None:
    snippet = make_snippet("# Rollbacks\n\nA rollback puts it back.\n", 1, "rollback")
    assert (snippet.heading, snippet.text) == ("Rollbacks", "A rollback puts it back.")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("## Error codes\n\n| Code | Meaning |\n|---|---|\n| 5032 | stale |\n", "5032 | stale"),
        ("**Alice:** The [[Migration]] is a go.", "Alice: The Migration is a go."),
        ("> quoted migration", "quoted migration"),
    ],
)
def test_markup_is_left_out(body: str, shown: str) -> None:
    assert make_snippet(body, 1, "5032 migration").text == shown


def test_last_word_is_complete() -> None:
    body = "migration " + "extraordinary " * 40
    assert make_snippet(body, 1, "migration").text.endswith(" extraordinary")


def test_fallback_line_is_shown_if_no_word_matches() -> None:
    body = "# Title\n\nFirst.\n\nSecond.\n"
    assert make_snippet(body, 5, "zzz", fallback_line=lambda: 9).text.startswith("Second.")
    assert make_snippet(body, 5, "zzz").text.startswith("First.")
    assert make_snippet("", 1, "zzz").text == ""


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("Dvořák", "dvorak"),
        ("studies", "study"),
        ("UPPER", "upper"),
        ("会議", "会議"),
        ("ΛΟΓΟΣ", "λογος"),
        ("λογος", "ΛΟΓΟΣ"),
        ("ΑΒΓΔΕΖΗΘ Ο ΛΟΓΟΣ", "λογος"),
    ],
)
def test_word_matches_regardless_of_spelling(word: str, query: str) -> None:
    snippet = make_snippet(f"About {word} here.", 1, query)
    assert snippet.matches


@given(st.text(max_size=300), st.text(max_size=60))
def test_spans_are_ordered_and_disjoint(text: str, query: str) -> None:
    ends = [0, *(end for span in match_spans(text, query) for end in span), len(text)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in match_spans(text, query))


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Migrations migrated; a migrant.", "migration", ["Migrations", "migrated"]),
        ("Dvořák and DVORAK", "dvořák", ["Dvořák", "DVORAK"]),
        ("what did they decide", "what did alice decide", ["decide"]),
        ("premigration migration_plan migration", "migration", ["migration"]),
        ("東京の会議で", "会議", ["会", "議"]),
        ("API会議API", "api", ["API", "API"]),
        ("nothing", "the of and", []),
        ("", "migration", []),
    ],
)
def test_all_words_of_the_query_are_marked(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in match_spans(text, query)] == marked


def test_snippet_marks_the_same_spans_as_match_spans() -> None:
    body = "The budget of the migration grew."
    query = "migration budget"
    assert make_snippet(body, 1, query).matches == match_spans(body, query)


LETTERS = st.text(st.sampled_from("aAzZ ÄäÖÉéØøßẞİıſΣσςΛλόΌЖжДдǅǈ会“”😀\u0301\ud800"), max_size=60)


@given(LETTERS, st.sampled_from(["", "aeo", "σz"]))
def test_lower_case_does_not_depend_on_the_number_of_capitals(text: str, letters: str) -> None:
    capitals = "ÁÀÂÃÅÆÇÈÊËÌÍ"  # too many to be replaced one by one
    few, many = (
        lower_in_place(text, frozenset(letters)),
        lower_in_place(text + capitals, frozenset(letters)),
    )
    assert many[: len(text)] == few
    assert (len(few), len(many)) == (len(text), len(text) + len(capitals))


def test_lower_case_equals_str_lower_for_any_letters() -> None:
    for first in range(0x80, 0x3000, 64):
        letters = "".join(map(chr, range(first, first + 64)))
        lowered = lower_in_place(f"A{letters}Z", frozenset())
        assert lowered == f"A{letters}Z".replace("\u0130", "I").lower(), hex(first)
