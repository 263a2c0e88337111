"""A query vector moves towards the documents that fit it best, whatever the filters are."""

import numpy as np
import pytest

from kbx_tui.index.vectors.stored_vectors import Coverage
from kbx_tui.index.vectors.vector_matrix import VectorMatrix, VectorSegment
from kbx_tui.search.evidence.scores import FEEDBACK_CANDIDATES, FEEDBACK_DOCUMENTS, FEEDBACK_WEIGHT
from kbx_tui.search.retrieval.document_pass import FeedbackQuery, best_documents, moved_towards
from tests.vectors import NO_PROFILES, stored_vectors

DIMENSION, LEXICAL_WEIGHT = 64, 0.7
QUERY: np.typing.NDArray[np.float32] = np.eye(1, DIMENSION, dtype=np.float32)[0]


def vectors_of(count: int, *, without: int | None = None) -> VectorMatrix:
    """Return random vectors, two chunks per document; document `without` has none."""
    random = np.random.default_rng(3)
    rows = np.array([row for row in range(count) if row != without], np.int64)
    chunks = random.standard_normal((2 * len(rows), DIMENSION)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = 2 * np.arange(len(rows) + 1)
    contexts, shares = np.zeros((len(rows), DIMENSION), np.float32), np.ones(len(rows), np.float32)
    stored = stored_vectors(chunks, starts, contexts, shares, rows)
    segment = VectorSegment.of(stored, np.arange(count))
    return VectorMatrix((segment,), NO_PROFILES, Coverage(len(chunks), 0))


def moved(bm25: list[float], vectors: VectorMatrix) -> np.typing.NDArray[np.float32]:
    rows = best_documents(QUERY, np.array(bm25), LEXICAL_WEIGHT, vectors)
    return moved_towards(QUERY, rows, vectors, FEEDBACK_WEIGHT)


def expected(rows: list[int], vectors: VectorMatrix) -> np.typing.NDArray[np.float32]:
    mean = vectors.mean_vectors(np.array(rows)).mean(axis=0)
    mean /= np.linalg.norm(mean)
    vector: np.typing.NDArray[np.float32] = (QUERY + FEEDBACK_WEIGHT * mean) / (1 + FEEDBACK_WEIGHT)
    return vector


def test_query_moves_towards_the_three_best_by_bm25_then_cosine() -> None:
    vectors = vectors_of(6)
    vector = moved([0.0, 90.0, 0.5, 80.0, 0.4, 70.0], vectors)
    np.testing.assert_allclose(vector, expected([1, 3, 5], vectors), rtol=1e-5, atol=1e-6)

    vectors = vectors_of(6)
    cosines = vectors.best_cosine_of(QUERY, np.arange(6))
    nearest = np.sort(np.argsort(-cosines)[:FEEDBACK_DOCUMENTS]).tolist()
    vector = moved([5.0] * 6, vectors)
    np.testing.assert_allclose(vector, expected(nearest, vectors), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bm25", [[0.0, 0.0, 0.0], []])
def test_query_is_unchanged_if_no_document_contains_a_term(bm25: list[float]) -> None:
    assert moved(bm25, vectors_of(len(bm25))) is QUERY


def test_documents_without_a_vector_are_not_feedback_documents() -> None:
    vectors = vectors_of(3, without=1)
    vector = moved([4.0, 90.0, 0.0], vectors)
    np.testing.assert_allclose(vector, expected([0], vectors), rtol=1e-5, atol=1e-6)
    assert moved([0.0, 90.0, 0.0], vectors) is QUERY


def test_only_vectors_of_candidates_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_read: list[int] = []
    best_cosine_of = VectorMatrix.best_cosine_of

    def recording(
        self: VectorMatrix, query: np.typing.NDArray[np.float32], rows: np.typing.NDArray[np.int64]
    ) -> np.typing.NDArray[np.float64]:
        rows_read.extend(rows.tolist())
        cosines: np.typing.NDArray[np.float64] = best_cosine_of(self, query, rows)
        return cosines

    monkeypatch.setattr(VectorMatrix, "best_cosine_of", recording)
    moved([7.0] * 30 + [8.0] * 5, vectors_of(35))
    assert len(rows_read) == FEEDBACK_CANDIDATES
    assert rows_read[:5] == [30, 31, 32, 33, 34]
    assert rows_read[5:] == list(range(15))  # ties by row


def test_only_the_query_as_typed_moves_and_each_variant_is_embedded_once() -> None:
    embedded: list[str] = []

    def embed(variant: str) -> np.typing.NDArray[np.float32]:
        embedded.append(variant)
        return QUERY

    vectors, bm25 = vectors_of(3), np.array([9.0, 8.0, 7.0])
    text = "what did Ada say on ferries?"
    query = FeedbackQuery(text, bm25, LEXICAL_WEIGHT, embed, vectors, FEEDBACK_WEIGHT)
    assert query.vector("what did say on ferries?") is QUERY
    assert query.feedback_rows == []
    vector = query.vector(text)
    assert query.vector(text) is vector
    assert sorted(query.feedback_rows) == [0, 1, 2]
    np.testing.assert_allclose(vector, expected([0, 1, 2], vectors), rtol=1e-5, atol=1e-6)
    assert len(embedded) == 2
