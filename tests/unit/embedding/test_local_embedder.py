from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kbx_tui.embedding.embedder import Embedder

WORDS = "budget review of the platform team is late because Zoë moved the audit to May"


def texts_of_mixed_length(count: int) -> list[str]:
    choose = random.Random(7)
    return [" ".join(choose.choices(WORDS.split(), k=choose.randint(1, 120))) for _ in range(count)]


def test_vectors_are_float32_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed(texts_of_mixed_length(40))
    assert vectors.shape == (40, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_row_i_belongs_to_text_i_regardless_of_batching(embedder: Embedder) -> None:
    texts = texts_of_mixed_length(40)
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    np.testing.assert_allclose(embedder.embed(texts), alone, atol=1e-5)


def test_query_and_document_with_equal_text_have_equal_vectors(embedder: Embedder) -> None:
    text = "who owns the payments gateway?"
    np.testing.assert_allclose(embedder.embed_query(text), embedder.embed([text])[0], atol=1e-5)


def test_no_texts_give_an_empty_matrix(embedder: Embedder) -> None:
    vectors = embedder.embed([])
    assert vectors.shape == (0, 384)
    assert vectors.dtype == np.float32


def test_text_beyond_the_maximum_length_is_truncated(embedder: Embedder) -> None:
    start = "word " * embedder.max_tokens
    first, second = embedder.embed([start + "alpha " * 20_000, start + "omega"])
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\0", "é🚀", "会議は明日", "مرحبا", "\ud800 lone", "e\u0301\u200d", "x" * 5000],
    ids=["empty", "blank", "nul", "emoji", "cjk", "arabic", "surrogate", "combining", "long-word"],
)
def test_any_text_has_a_unit_vector(embedder: Embedder, text: str) -> None:
    for vector in (embedder.embed_query(text), embedder.embed([text])[0]):
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_accents_and_letter_case_do_not_change_the_vector(embedder: Embedder) -> None:
    assert embedder.embed_query("ZOË") @ embedder.embed_query("zoe") == pytest.approx(1.0)


def test_embedder_is_thread_safe(embedder: Embedder) -> None:
    texts = texts_of_mixed_length(24)
    expected = embedder.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_query, texts))
    np.testing.assert_allclose(np.stack(vectors), expected, atol=1e-5)
