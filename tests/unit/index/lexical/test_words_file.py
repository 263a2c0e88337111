"""words.bin is the same however many blocks its texts are indexed in."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import IndexFault
from kbx_tui.index.lexical import text_files
from kbx_tui.index.lexical.postings import WORDS, make_postings
from kbx_tui.index.lexical.text_files import write_words
from kbx_tui.index.store import Store
from kbx_tui.removal import remove_index_temporaries

WORDS_OF_TEXTS = [
    "the",
    "team",
    "teams",
    "Łódź",
    "migrate",
    "日本",
    "a1",
    "owns",
    "½",
    "und",
    "der",
]
some_texts = st.lists(st.lists(st.sampled_from(WORDS_OF_TEXTS), max_size=9).map(" ".join))


def words_bin(texts: list[str], block_characters: int) -> bytes:
    versioned = ((f"v{number}", text) for number, text in enumerate(texts))
    with TemporaryDirectory() as folder:
        write_words(Store(folder), WORDS, versioned, block_characters=block_characters)
        (file,) = Path(folder).iterdir()
        return file.read_bytes()


@given(some_texts, st.integers(0, 60), st.integers(1, 9))
def test_blocks_change_no_byte(texts: list[str], characters: int, merged: int) -> None:
    versioned = [(f"v{number}", text) for number, text in enumerate(texts)]
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(text_files, "MERGED_AT_ONCE", merged)
        WORDS.write(Store(folder), make_postings(versioned))
        at_once = (Path(folder) / WORDS.name).read_bytes()
        assert words_bin(texts, characters) == at_once


def test_more_words_than_positions_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.index.lexical.postings.MOST_WORDS", 8)
    texts = [(f"v{number}", "two words") for number in range(3)]  # and one place after each
    for characters in (1, 1000):
        with pytest.raises(IndexFault, match="more than 8 words, the most that one index can"):
            write_words(Store(str(tmp_path)), WORDS, texts, block_characters=characters)
    write_words(Store(str(tmp_path)), WORDS, texts[:2], block_characters=1)
    assert [path.name for path in tmp_path.iterdir()] == [WORDS.name]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with WORDS.spilled(store, make_postings([("v0", "a team")])) as mapped:
        assert mapped.term_id("team") == 0
        assert len(list(tmp_path.iterdir())) == 1
        remove_index_temporaries(tmp_path)
        assert not list(tmp_path.iterdir())
