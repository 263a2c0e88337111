"""Postings hold every term with its texts, frequencies and positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.lexical.postings import BEYOND, UNKNOWN, Postings, make_postings
from kbx_tui.index.lexical.terms import term_of, terms_in, words_in

WORDS = ["the", "team", "teams", "Łódź", "migrate", "x" * 50, "日本", "a1", "_", "owns"]
some_texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=9)


def postings_of(texts: list[str]) -> Postings:
    versioned = ((f"t{number}", text) for number, text in enumerate(texts))
    return make_postings(versioned)


@given(some_texts)
def test_lookup_returns_texts_frequencies_and_positions(texts: list[str]) -> None:
    postings = postings_of(texts)
    assert postings.lengths.tolist() == [len(terms_in(text)) for text in texts]
    assert postings.versions.tolist() == [f"t{number}".encode() for number in range(len(texts))]
    terms = {term for text in texts for term in terms_in(text)}
    for term in {term_of(WORDS[0]), "none", *terms}:
        frequencies = [terms_in(text).count(term) for text in texts]
        doc_ids, found = postings.postings_of(postings.term_id(term))
        assert dict(zip(doc_ids.tolist(), found.tolist(), strict=True)) == {
            doc_id: frequency for doc_id, frequency in enumerate(frequencies) if frequency
        }
        positions = postings.positions_of(postings.term_id(term))
        doc_ids_at = postings.doc_ids_at(positions).tolist()
        assert doc_ids_at == [
            doc_id for doc_id, frequency in enumerate(frequencies) for _ in range(frequency)
        ]
        for position, doc_id in zip(positions.tolist(), doc_ids_at, strict=True):
            word = words_in(texts[doc_id])[position - postings.text_starts[doc_id]]
            assert term_of(word) == term


@given(some_texts)
def test_words_of_two_texts_are_never_adjacent(texts: list[str]) -> None:
    postings = postings_of(texts)
    last_words = postings.text_starts[:-1] + [len(words_in(text)) - 1 for text in texts]
    assert (postings.text_starts[1:] - last_words >= 2).all()


def test_offsets_are_where_the_words_of_a_term_start() -> None:
    texts = ["A team. The Łódź team", "no such word", "Teams of team"]
    postings = postings_of(texts)
    assert [postings.text_size(doc_id) for doc_id in range(3)] == [len(text) for text in texts]
    team = postings.term_id("team")
    assert postings.offsets_in(np.arange(3, dtype=np.int32), team) == [[2, 17], [], [0, 9]]
    assert postings.offsets_in(np.array([2, 0], np.int32), postings.term_id("lodz")) == [[], [12]]
    assert postings.offsets_in(np.arange(3, dtype=np.int32), -1) == [[], [], []]


def test_offsets_are_limited() -> None:
    postings = postings_of(["x" * BEYOND + " team team"])
    assert postings.offsets_in(np.zeros(1, np.int32), postings.term_id("team")) == [
        [BEYOND, BEYOND]
    ]


@pytest.mark.parametrize("text", ["a ½ team", "1½ team", "a日本team", "日 ½ team"])
def test_a_character_that_is_a_word_or_two_has_the_offsets_of_the_others_exact(text: str) -> None:
    postings = postings_of([text])
    assert postings.offsets_in(np.zeros(1, np.int32), postings.term_id("team")) == [
        [text.index("team")]
    ]


@pytest.mark.parametrize("text", ["E\u0301mile, a team", "5\u2103 in the room"])
def test_a_text_that_folds_to_other_words_has_no_offsets(text: str) -> None:
    assert postings_of([text]).text_size(0) == UNKNOWN
