"""Words of a body are found by their offsets in the full-text index as by searching the text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.postings import BEYOND, make_postings
from kbx_tui.index.lexical.terms import separate_cjk
from kbx_tui.search.results.body_offsets import offsets_in_body
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.search.results.text_sections import find_headings
from kbx_tui.search.results.word_matches import TextWords

TITLE = "The team of Łódź\nteams"
PIECES = ["the", "Team", "teams", "team_work", "_team", "dying", "die", "Łódź", "E\u0301mile", "½",
          "日本", "x" * 45, "# Team\n", "planned", "Plans", ",", "\n"]  # fmt: skip
STEMS = ["team", "die", "lodz", "the", "plan", "日", "x" * 45, "team_work", "none"]


def index_of(body: str) -> Bm25Index:
    text = separate_cjk(f"{TITLE}\n{body}")
    postings = make_postings([("v1", text)], with_offsets=True)
    return Bm25Index([PostingsSegment(postings, np.array([0]))], 1)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join), st.integers(1, 80))
def test_offsets_find_the_words_that_a_search_of_the_text_finds(body: str, read: int) -> None:
    offsets_of = offsets_in_body(index_of(body), 0, body, read_at_most=read)
    text = body[:read]
    headings = [heading[:2] for heading in find_headings(text)]
    known = TextWords(text, "".join(STEMS), "english", offsets_of)
    searched = TextWords(text, "".join(STEMS), "english")
    assert known.find(STEMS) == searched.find(STEMS)
    assert known.find(STEMS, headings) == searched.find(STEMS, headings)


def test_a_snippet_is_the_same_with_offsets() -> None:
    body = "# Plans\n\nNothing here.\n\n## The team\n\nThe team plans to move to Łódź.\n" * 9
    offsets_of = offsets_in_body(index_of(body), 0, body, read_at_most=len(body))
    assert offsets_of is not None
    query = "team planning in Lodz"
    assert make_snippet(body, 1, query, offsets_of=offsets_of) == make_snippet(body, 1, query)


@pytest.mark.parametrize("word_stem", ["the", "team_work", "x" * 21])
def test_offsets_are_unknown_of_what_the_index_may_leave_out(word_stem: str) -> None:
    offsets_of = offsets_in_body(index_of("a team"), 0, "a team", read_at_most=100)
    assert offsets_of is not None
    assert offsets_of(word_stem) is None
    assert offsets_of("team") == [2]


@pytest.mark.parametrize(
    "body",
    ["日本", "word " * BEYOND, "Das ist nicht die Sache und war es auch nicht, als er ging."],
)
def test_a_text_without_offsets_or_in_another_language_is_searched(body: str) -> None:
    assert offsets_in_body(index_of(body), 0, body, read_at_most=len(body)) is None
