from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.embedding.model_files import BATCH_CHARACTERS

EMBEDDER: Embedder = open_embedder()
paragraphs = st.lists(st.text(st.characters(codec="utf-8")).filter(str.strip), max_size=6)


@given(paragraphs)
def test_count_of_joined_paragraphs_is_the_sum_of_their_counts(parts: list[str]) -> None:
    (joined,) = EMBEDDER.count_tokens(["\n\n".join(parts)])
    assert joined == sum(EMBEDDER.count_tokens(parts))


def test_special_tokens_are_not_counted() -> None:
    assert EMBEDDER.count_tokens(["", "hello", "hello world"]) == [0, 1, 2]


def test_text_longer_than_the_model_accepts_is_counted_in_full() -> None:
    assert EMBEDDER.count_tokens(["word " * 3000]) == [3000]


def test_texts_longer_than_a_batch_are_counted_in_full() -> None:
    long = BATCH_CHARACTERS // 5
    counts = EMBEDDER.count_tokens(["word " * long, "", "a b", "word " * long * 2 + "end"])
    assert counts == [long, 0, 2, long * 2 + 1]


def test_lone_surrogate_counts_as_its_replacement() -> None:
    assert EMBEDDER.count_tokens(["\ud800"]) == [1]


def test_no_texts_have_no_counts() -> None:
    assert EMBEDDER.count_tokens([]) == []
