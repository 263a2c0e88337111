"""A query's vector is drawn to the documents that fit it best, whatever the search may return."""

from __future__ import annotations

import numpy as np
import pytest

from kbx_tui.index.vectors.vector_matrix import Vectors, quantized_in_context
from kbx_tui.search.evidence.score_normalization import (
    FEEDBACK_AMONG,
    FEEDBACK_DOCUMENTS,
    FEEDBACK_WEIGHT,
)
from kbx_tui.search.retrieval.pseudo_relevance_feedback import Meanings, best_fitting, drawn_to

DIMENSION, WORDS = 64, 0.7
QUERY: np.typing.NDArray[np.float32] = np.eye(1, DIMENSION, dtype=np.float32)[0]


def vectors_of(count: int, *, without: int | None = None) -> Vectors:
    """Two chunks a document, neither like another's; the `without`-th document has no vector."""
    random = np.random.default_rng(3)
    rows = np.array([row for row in range(count) if row != without], np.int64)
    chunks = random.standard_normal((2 * len(rows), DIMENSION)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = 2 * np.arange(len(rows))
    contexts, shares = np.zeros((len(rows), DIMENSION), np.float32), np.ones(len(rows), np.float32)
    return Vectors(
        chunks=chunks,
        lines=np.ones(len(chunks), np.int32),
        document_rows=rows,
        starts=starts,
        contexts=contexts,
        chunk_shares=shares,
        quantized=quantized_in_context(chunks, starts, contexts, shares),
        entities=chunks[:0],
        share=1.0,
    )


def drawn(scores: list[float], vectors: Vectors) -> np.typing.NDArray[np.float32]:
    rows = best_fitting(QUERY, np.array(scores), WORDS, vectors)
    return drawn_to(QUERY, rows, vectors, FEEDBACK_WEIGHT)


def expected(rows: list[int], vectors: Vectors) -> np.typing.NDArray[np.float32]:
    mean = vectors.wholes(np.array(rows)).mean(axis=0)
    mean /= np.linalg.norm(mean)
    both: np.typing.NDArray[np.float32] = (QUERY + FEEDBACK_WEIGHT * mean) / (1 + FEEDBACK_WEIGHT)
    return both


def test_it_is_drawn_to_the_three_that_fit_best() -> None:
    vectors = vectors_of(6)
    found = drawn([0.0, 90.0, 0.5, 80.0, 0.4, 70.0], vectors)
    np.testing.assert_allclose(found, expected([1, 3, 5], vectors), rtol=1e-5, atol=1e-6)


def test_meaning_decides_between_documents_with_equal_words() -> None:
    vectors = vectors_of(6)
    cosines = vectors.best_cosine_of(QUERY, np.arange(6))
    nearest = np.sort(np.argsort(-cosines)[:FEEDBACK_DOCUMENTS]).tolist()
    found = drawn([5.0] * 6, vectors)
    np.testing.assert_allclose(found, expected(nearest, vectors), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scores", [[0.0, 0.0, 0.0], []])
def test_without_a_document_that_holds_its_words_a_query_stays_as_it_is(
    scores: list[float],
) -> None:
    assert drawn(scores, vectors_of(len(scores))) is QUERY


def test_a_document_without_a_vector_draws_nothing() -> None:
    vectors = vectors_of(3, without=1)
    found = drawn([4.0, 90.0, 0.0], vectors)
    np.testing.assert_allclose(found, expected([0], vectors), rtol=1e-5, atol=1e-6)
    assert drawn([0.0, 90.0, 0.0], vectors) is QUERY


def test_no_more_documents_are_read_than_have_the_best_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    known = Vectors.best_cosine_of

    def noting(
        self: Vectors, query: np.typing.NDArray[np.float32], rows: np.typing.NDArray[np.int64]
    ) -> np.typing.NDArray[np.float64]:
        read.extend(rows.tolist())
        found: np.typing.NDArray[np.float64] = known(self, query, rows)
        return found

    monkeypatch.setattr(Vectors, "best_cosine_of", noting)
    drawn([7.0] * 30 + [8.0] * 5, vectors_of(35))
    assert len(read) == FEEDBACK_AMONG
    assert read[:5] == [30, 31, 32, 33, 34]
    assert read[5:] == list(range(15))  # of equals the first: always the same ones


def test_likeness_to_it_is_a_weighted_mean_of_two() -> None:
    vectors = vectors_of(5)
    found = drawn([9.0, 8.0, 7.0, 0.0, 0.0], vectors)
    assert np.linalg.norm(found) <= 1.0 + 1e-6
    mean = vectors.wholes(np.array([0, 1, 2])).mean(axis=0)
    mean /= np.linalg.norm(mean)
    one = vectors.chunks[8]
    both = (one @ QUERY + FEEDBACK_WEIGHT * (one @ mean)) / (1 + FEEDBACK_WEIGHT)
    assert float(one @ found) == pytest.approx(float(both), abs=1e-6)


def test_only_the_query_as_typed_is_drawn_and_each_wording_is_asked_for_once() -> None:
    asked: list[str] = []

    def vector_of(wording: str) -> np.typing.NDArray[np.float32]:
        asked.append(wording)
        return QUERY

    vectors, scores = vectors_of(3), np.array([9.0, 8.0, 7.0])
    query = "what did Ada say on ferries?"
    meaning = Meanings(query, scores, WORDS, vector_of, vectors, FEEDBACK_WEIGHT)
    assert meaning.of("what did say on ferries?") is QUERY
    assert meaning.drawn_to == []
    drawn_once = meaning.of(query)
    assert meaning.of(query) is drawn_once
    assert sorted(meaning.drawn_to) == [0, 1, 2]
    np.testing.assert_allclose(drawn_once, expected([0, 1, 2], vectors), rtol=1e-5, atol=1e-6)
    assert len(asked) == 2


def test_with_weight_0_a_query_stays_as_it_is() -> None:
    meaning = Meanings("ferries", np.ones(3), WORDS, lambda _: QUERY, vectors_of(3), 0.0)
    assert meaning.of("ferries") is QUERY
    assert meaning.drawn_to == []
