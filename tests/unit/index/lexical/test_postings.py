"""Postings say of every term where it stands, from memory as from a file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.lexical.postings import Postings, make_postings, read_postings, write_postings
from kbx_tui.index.lexical.terms import term_of, terms_in, words_in

WORDS = ["the", "team", "teams", "Łódź", "migrate", "x" * 50, "日本", "a1", "_", "owns"]
some_texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=9)


def named(texts: list[str]) -> Postings:
    return make_postings((f"t{number}", text) for number, text in enumerate(texts))


@given(some_texts)
def test_every_term_is_found_where_it_stands(texts: list[str]) -> None:
    made = named(texts)
    assert made.lengths.tolist() == [len(terms_in(text)) for text in texts]
    assert [name.decode() for name in made.names.tolist()] == [f"t{n}" for n in range(len(texts))]
    for term in {*map(term_of, WORDS[:1]), *(t for text in texts for t in terms_in(text)), "none"}:
        counts = [terms_in(text).count(term) for text in texts]
        slots, found = made.texts_with(term)
        assert dict(zip(slots.tolist(), found.tolist(), strict=True)) == {
            slot: number for slot, number in enumerate(counts) if number
        }
        places = made.places_of(term)
        assert made.slots_at(places).tolist() == [
            slot for slot, number in enumerate(counts) for _ in range(number)
        ]
        for place, slot in zip(places.tolist(), made.slots_at(places).tolist(), strict=True):
            assert term_of(words_in(texts[slot])[place - made.begins[slot]]) == term


@given(some_texts)
def test_the_last_word_of_a_text_does_not_stand_beside_the_first_of_the_next(
    texts: list[str],
) -> None:
    made = named(texts)
    last = made.begins[:-1] + [len(words_in(text)) - 1 for text in texts]
    assert (made.begins[1:] - last >= 2).all()


@pytest.mark.parametrize("texts", [[], [""], ["the"], ["a team", "", "two teams"]])
def test_a_file_gives_back_what_was_written(texts: list[str], tmp_path: Path) -> None:
    made, file = named(texts), tmp_path / "words.bin"
    write_postings(made, file)
    read = read_postings(file)
    assert read is not None
    for field in fields(Postings):
        np.testing.assert_array_equal(getattr(read, field.name), getattr(made, field.name))
    assert [path.name for path in tmp_path.iterdir()] == ["words.bin"]


def test_what_is_mapped_outlives_the_file(tmp_path: Path) -> None:
    file = tmp_path / "words.bin"
    write_postings(named(["one team"]), file)
    read = read_postings(file)
    write_postings(named(["another"]), file)
    assert read is not None
    assert len(read.texts_with("team")[0]) == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"kbx words 1", b"kbx words 0\n{}\n", b"kbx words 1\n{]\n", b"kbx words 1\n{}\n", None],
    ids=["empty", "header-alone", "other-format", "no-json", "nothing-listed", "cut"],
)
def test_a_damaged_file_is_no_file(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "words.bin"
    write_postings(named(["a team of two", "teams"]), file)
    file.write_bytes(file.read_bytes()[:-200] if content is None else content)
    assert read_postings(file) is None


def test_no_file_is_no_postings(tmp_path: Path) -> None:
    assert read_postings(tmp_path / "words.bin") is None
