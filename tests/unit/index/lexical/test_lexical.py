"""Terms, postings, and the file that holds them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbx_tui.errors import IndexFault
from kbx_tui.index.lexical import text_files
from kbx_tui.index.lexical.postings import (
    BEYOND,
    LONGEST_WORD,
    STOP_WORDS,
    UNKNOWN,
    Postings,
    doc_ids_at,
    make_postings,
    term_of,
    terms_in,
    words_in,
)
from kbx_tui.index.lexical.postings import WORDS as WORDS_FILE_WORDS
from kbx_tui.index.lexical.text_files import write_words
from kbx_tui.index.ownership import claim
from kbx_tui.index.store import Store
from kbx_tui.knowledge.folding import fold
from kbx_tui.removal import INDEX_MARKER, remove_index_temporaries

WORDS = ["the", "team", "teams", "Łódź", "migrate", "x" * 50, "日本", "a1", "_", "owns", "½", "und"]
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
        doc_ids = doc_ids_at(postings.text_starts, positions).tolist()
        assert doc_ids == [
            doc_id for doc_id, frequency in enumerate(frequencies) for _ in range(frequency)
        ]
        for position, doc_id in zip(positions.tolist(), doc_ids, strict=True):
            word = words_in(texts[doc_id])[position - postings.text_starts[doc_id]]
            assert term_of(word) == term


@given(some_texts)
def test_words_of_two_texts_are_never_adjacent(texts: list[str]) -> None:
    postings = postings_of(texts)
    last_words = postings.text_starts[:-1] + [len(words_in(text)) - 1 for text in texts]
    assert (postings.text_starts[1:] - last_words >= 2).all()


def test_offsets_are_where_the_words_of_a_term_start_up_to_a_limit() -> None:
    texts = ["A team. The Łódź team", "no such word", "Teams of team"]
    postings = postings_of(texts)
    assert postings.text_sizes.tolist() == [len(text) for text in texts]
    team = postings.term_id("team")
    assert postings.offsets_in(np.arange(3, dtype=np.int32), team) == [[2, 17], [], [0, 9]]
    assert postings.offsets_in(np.array([2, 0], np.int32), postings.term_id("lodz")) == [[], [12]]
    assert postings.offsets_in(np.arange(3, dtype=np.int32), -1) == [[], [], []]

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
    assert postings_of([text]).text_sizes[0] == UNKNOWN


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


def words_bin(texts: list[str], block_characters: int) -> bytes:
    versioned = ((f"v{number}", text) for number, text in enumerate(texts))
    with TemporaryDirectory() as folder:
        write_words(Store(folder), WORDS_FILE_WORDS, versioned, block_characters=block_characters)
        (file,) = Path(folder).iterdir()
        return file.read_bytes()


@given(some_texts, st.integers(0, 60), st.integers(1, 9))
def test_blocks_change_no_byte(texts: list[str], characters: int, merged: int) -> None:
    versioned = [(f"v{number}", text) for number, text in enumerate(texts)]
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(text_files, "MERGED_AT_ONCE", merged)
        WORDS_FILE_WORDS.write(Store(folder), make_postings(versioned))
        at_once = (Path(folder) / WORDS_FILE_WORDS.name).read_bytes()
        assert words_bin(texts, characters) == at_once


def test_more_words_than_positions_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.index.lexical.postings.MOST_WORDS", 8)
    texts = [(f"v{number}", "two words") for number in range(3)]  # and one place after each
    for characters in (1, 1000):
        with pytest.raises(IndexFault, match="more than 8 words, the most that one index can"):
            write_words(Store(str(tmp_path)), WORDS_FILE_WORDS, texts, block_characters=characters)
    write_words(Store(str(tmp_path)), WORDS_FILE_WORDS, texts[:2], block_characters=1)
    assert [path.name for path in tmp_path.iterdir()] == [WORDS_FILE_WORDS.name]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    claim(tmp_path)
    store = Store(str(tmp_path))
    with WORDS_FILE_WORDS.spilled(store, make_postings([("v0", "a team")])) as mapped:
        assert mapped.term_id("team") == 0
        assert len(list(tmp_path.iterdir())) == 2
        remove_index_temporaries(tmp_path)
        assert [file.name for file in tmp_path.iterdir()] == [INDEX_MARKER]
