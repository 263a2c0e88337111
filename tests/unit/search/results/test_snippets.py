"""A snippet is the place that fits best, readable on one line, with its matches marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.results.snippets import SNIPPET_LENGTH, _plain, make_snippet, match_spans


@given(st.text(max_size=600), st.text(max_size=60))
def test_matches_lie_inside_a_snippet_of_one_line(body: str, query: str) -> None:
    snippet = make_snippet(body, 1, query)
    assert len(snippet.text) <= SNIPPET_LENGTH
    assert "\n" not in snippet.text
    for start, end in snippet.matches:
        assert 0 <= start < end <= len(snippet.text)
    assert 1 <= snippet.line_start <= snippet.line_end <= body.count("\n") + 1


def test_the_place_where_most_words_stand_together_wins() -> None:
    body = "A budget.\n\n" + "Nothing here. " * 40 + "\n\nThe budget of the migration grew.\n"
    snippet = make_snippet(body, 10, "migration budget")
    assert snippet.text == "The budget of the migration grew."
    assert [snippet.text[a:b] for a, b in snippet.matches] == ["budget", "migration"]
    assert snippet.line_start == 14
    assert snippet.terms == (("migration", 1), ("budget", 2))


def test_a_match_inside_a_heading_does_not_cut_its_name() -> None:
    assert make_snippet("# About Gardens\n", 1, "gardens").heading == "About Gardens"


def test_inflected_words_match() -> None:
    snippet = make_snippet("They were migrating databases.", 1, "database migration")
    assert [snippet.text[a:b] for a, b in snippet.matches] == ["migrating", "databases"]


def test_a_heading_is_named_rather_than_quoted() -> None:
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


def test_no_word_is_cut_at_the_end() -> None:
    body = "migration " + "extraordinary " * 40
    assert make_snippet(body, 1, "migration").text.endswith(" extraordinary")


def test_without_a_matching_word_the_nearest_chunk_is_shown() -> None:
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
def test_spelling_does_not_hide_a_word(word: str, query: str) -> None:
    snippet = make_snippet(f"About {word} here.", 1, query)
    assert snippet.matches


@given(st.text(max_size=300), st.text(max_size=60))
def test_spans_of_matches_are_in_order_and_apart(text: str, query: str) -> None:
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


def test_a_snippet_marks_what_all_matches_hold() -> None:
    body = "The budget of the migration grew."
    query = "migration budget"
    assert make_snippet(body, 1, query).matches == match_spans(body, query)


LETTERS = st.text(st.sampled_from("aAzZ ÄäÖÉéØøßẞİıſΣσςΛλόΌЖжДдǅǈ会“”😀\u0301\ud800"), max_size=60)


@given(LETTERS, st.sampled_from(["", "aeo", "σz"]))
def test_how_many_capitals_there_are_makes_no_difference(text: str, under: str) -> None:
    capitals = "ÁÀÂÃÅÆÇÈÊËÌÍ"  # more than are replaced one by one
    few, many = _plain(text, frozenset(under)), _plain(text + capitals, frozenset(under))
    assert many[: len(text)] == few
    assert (len(few), len(many)) == (len(text), len(text) + len(capitals))


def test_a_text_is_written_small_whatever_its_letters() -> None:
    for first in range(0x80, 0x3000, 64):
        signs = "".join(map(chr, range(first, first + 64)))
        plain = _plain(f"A{signs}Z", frozenset())
        assert plain == f"A{signs}Z".replace("\u0130", "I").lower(), hex(first)
