"""Words of a body are found by their offsets in the full-text index as by searching the text."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.postings import BEYOND, make_postings
from kbx_tui.search.results.snippets import PassageSource
from kbx_tui.search.results.text_words import (
    OffsetsOf,
    TextWords,
    find_headings,
    offsets_in_body,
    sections,
)

TITLE = "The team of Łódź\nteams"
PIECES = ["the", "Team", "teams", "team_work", "_team", "dying", "die", "Łódź", "E\u0301mile", "½",
          "日本", "team日本team", "x" * 45, "# Team\n", "planned", "Plans", ",", "\n"]  # fmt: skip
STEMS = ["team", "die", "lodz", "the", "plan", "日", "x" * 45, "team_work", "none"]


def index_of(*bodies: str) -> Bm25Index:
    texts = [f"{TITLE}\n{body}" for body in bodies]
    versions = [f"v{number}" for number in range(len(texts))]
    postings = make_postings(list(zip(versions, texts, strict=True)))
    return Bm25Index([PostingsSegment(postings, np.arange(len(texts)))], len(texts))


def offsets_in(body: str, *, read: int) -> OffsetsOf | None:
    (text,) = index_of(body).offsets([0])
    return offsets_in_body(text, body, read_at_most=read)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join), st.integers(1, 80))
def test_offsets_find_the_words_that_a_search_of_the_text_finds(body: str, read: int) -> None:
    offsets_of = offsets_in(body, read=read)
    text = body[:read]
    headings = [heading[:2] for heading in find_headings(text)]
    known = TextWords(text, "".join(STEMS), "english", offsets_of)
    searched = TextWords(text, "".join(STEMS), "english")
    assert known.find(STEMS) == searched.find(STEMS)
    assert known.find(STEMS, headings) == searched.find(STEMS, headings)


def test_a_snippet_is_the_same_with_offsets() -> None:
    body = "# Plans\n\nNothing here.\n\n## The team\n\nThe team plans to move to Łódź.\n" * 9
    offsets_of = offsets_in(body, read=len(body))
    assert offsets_of is not None
    query = "team planning in Lodz"
    assert (
        PassageSource(body, 1, query, offsets_of=offsets_of).snippet()
        == PassageSource(body, 1, query).snippet()
    )


@pytest.mark.parametrize("word_stem", ["the", "team_work", "日", "x" * 21])
def test_offsets_are_unknown_of_what_the_index_may_leave_out(word_stem: str) -> None:
    offsets_of = offsets_in("a team", read=100)
    assert offsets_of is not None
    assert offsets_of(word_stem) is None
    assert offsets_of("team") == [2]


@pytest.mark.parametrize(
    "body",
    ["E\u0301mile", "word " * BEYOND],
)
def test_a_text_without_offsets_is_searched(body: str) -> None:
    assert offsets_in(body, read=len(body)) is None


def test_words_of_several_texts_have_offsets_in_the_order_of_their_rows() -> None:
    texts = index_of("a team", "E\u0301mile", "none", "new team").offsets([3, -1, 1, 0])
    starts = [None if text is None else list(text.of("new")) for text in texts]
    assert starts == [[len(TITLE) + 1], None, None, []]


LINES = st.sampled_from(
    ["# One", "## Two #", "#tag", "text # not", "", "####### seven", "###\tTab"]
)


@given(st.lists(LINES).map("\n".join))
def test_headings_are_the_lines_that_begin_with_marks_and_a_blank(text: str) -> None:
    expected = [
        (line.start(), line.end(), len(line[1]))
        for line in re.finditer(r"^(#{1,6})[ \t].*$", text, re.MULTILINE)
    ]
    assert find_headings(text) == expected


def test_a_section_has_the_words_of_the_headings_above_it() -> None:
    text = "# Ferry\n\n## Crew\n\nferry\n\n## Food\n\n# Other\n\nnothing\n"
    words = [(2, 7, "ferri"), (12, 16, "crew"), (18, 23, "ferri")]
    below_title, crew, food = sections(text, find_headings(text), words)
    assert below_title.headings == food.headings == {"ferri"}
    assert crew.own == {"crew"}
    assert crew.headings == {"ferri", "crew"}
    assert crew.matches == words[2:]
