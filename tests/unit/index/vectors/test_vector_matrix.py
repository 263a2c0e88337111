"""Cosines of documents: exact under any scope, approximate within a bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.vectors.stored_vectors import (
    EXACT_BLOCK,
    Coverage,
    StoredVectors,
    document_contexts,
    quantize,
)
from kbx_tui.index.vectors.vector_matrix import (
    ProfileVectors,
    VectorMatrix,
    VectorSegment,
    rows_of_profiles,
)
from tests.vectors import NO_PROFILES, stored_vectors

DOCUMENTS, CHUNKS, DIMENSION = 700, 2 * EXACT_BLOCK + 100, 8


def random_vectors() -> StoredVectors:
    """Return vectors of three blocks; every seventh document has none."""
    random = np.random.default_rng(1)
    rows = np.array([row for row in range(DOCUMENTS) if row % 7])
    starts = np.sort(random.choice(np.arange(1, CHUNKS), len(rows) - 1, replace=False))
    chunks = random.standard_normal((CHUNKS, DIMENSION)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = np.concatenate(([0], starts, [CHUNKS]))
    contexts, weights = 0.3 * chunks[: len(rows)], np.full(len(rows), 0.7, np.float32)
    return stored_vectors(chunks, starts, contexts, weights, rows)


def matrix_of(*segments: VectorSegment) -> VectorMatrix:
    return VectorMatrix(segments, NO_PROFILES, Coverage(CHUNKS, 0))


STORED = random_vectors()
SEGMENT = VectorSegment.of(STORED, np.arange(DOCUMENTS))
VECTORS = matrix_of(SEGMENT)
QUERIES = SEGMENT.stored.chunks[:2]
ALL_COSINES = VECTORS.best_cosine(QUERIES, np.ones(DOCUMENTS, np.bool_))


def test_the_cosine_of_a_document_is_that_of_its_best_chunk() -> None:
    for document, row in enumerate(SEGMENT.document_rows):
        chunks = SEGMENT.stored.chunks[SEGMENT.chunks_of(row)]
        expected = 0.7 * (chunks @ QUERIES[1]).max() + STORED.contexts[document] @ QUERIES[1]
        np.testing.assert_allclose(ALL_COSINES[1, row], expected, rtol=1e-5, atol=1e-6)
    assert np.isnan(ALL_COSINES[:, ::7]).all()


@given(st.sets(st.integers(0, DOCUMENTS - 1), max_size=5), st.booleans())
def test_cosines_are_bit_identical_under_any_scope(rows: set[int], others: bool) -> None:
    in_scope = np.full(DOCUMENTS, others)
    in_scope[list(rows)] = not others
    cosines = VECTORS.best_cosine(QUERIES, in_scope)
    np.testing.assert_array_equal(cosines[:, in_scope], ALL_COSINES[:, in_scope])
    assert np.isnan(cosines[:, ~in_scope]).all()


@given(st.integers(0, 50))
def test_approximate_cosines_are_within_the_error_bound(seed: int) -> None:
    random = np.random.default_rng(seed)
    query = random.standard_normal(DIMENSION).astype(np.float32)
    query *= random.random(dtype=np.float32) / np.linalg.norm(query)
    rows = np.sort(random.choice(DOCUMENTS, 300, replace=False))
    approximate, error_bound = VECTORS.approximate_cosine(query, rows)
    exact = VECTORS.best_cosine(query[None], np.ones(DOCUMENTS, np.bool_))[0, rows]
    np.testing.assert_array_equal(np.isnan(approximate), np.isnan(exact))
    assert np.nanmax(np.abs(approximate - exact)) <= error_bound <= 0.02
    few = np.sort(random.choice(len(rows), 40, replace=False))
    np.testing.assert_array_equal(VECTORS.best_cosine_of(query, rows[few]), exact[few])


def unit_vectors(count: int) -> np.typing.NDArray[np.float32]:
    vectors = np.random.default_rng(7).standard_normal((count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.mark.parametrize("has_title", [True, False])
def test_a_chunk_is_weighted_with_its_document_and_title(has_title: bool) -> None:
    chunks, query = unit_vectors(3), unit_vectors(4)[3]
    title = unit_vectors(5)[4:] if has_title else np.zeros((1, DIMENSION), np.float32)
    mean = chunks.sum(axis=0) / np.linalg.norm(chunks.sum(axis=0))
    expected = 0.7 * (chunks @ query) + 0.1 * mean @ query + 0.2 * title[0] @ query
    contexts, weights = document_contexts(chunks, np.array([0, len(chunks)]), title)
    weighted = weights[0] * (chunks @ query) + contexts[0] @ query
    expected /= 1.0 if has_title else 0.8
    np.testing.assert_allclose(weighted, expected, rtol=1e-4, atol=1e-6)
    contexts, weights = document_contexts(unit_vectors(0), np.zeros(0, np.int64), unit_vectors(0))
    assert (len(contexts), len(weights)) == (0, 0)


def test_the_mean_vector_of_a_document_has_the_direction_of_its_mean_chunk() -> None:
    documents = [0, 5, 300, len(SEGMENT.document_rows) - 1]
    means = VECTORS.mean_vectors(SEGMENT.document_rows[documents])
    for document, mean in zip(documents, means, strict=True):
        chunks = SEGMENT.stored.chunks[SEGMENT.chunks_of(int(SEGMENT.document_rows[document]))]
        expected = chunks.mean(axis=0) / np.linalg.norm(chunks.mean(axis=0))
        np.testing.assert_allclose(mean, expected, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 20))
def test_documents_in_two_segments_have_the_same_cosines_as_in_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.arange(DOCUMENTS)
    is_newer = random.random(DOCUMENTS) < random.choice([0.0, 0.01, 0.5, 1.0])
    older = VectorSegment.of(STORED, np.where(is_newer, -1, rows))
    newer = VectorSegment.of(STORED, np.where(is_newer, rows, -1))
    vectors = matrix_of(older, newer)
    everything = np.ones(DOCUMENTS, np.bool_)
    np.testing.assert_array_equal(vectors.best_cosine(QUERIES, everything), ALL_COSINES)
    some = np.sort(random.choice(DOCUMENTS, 90, replace=False))
    np.testing.assert_array_equal(vectors.best_cosine_of(QUERIES[1], some), ALL_COSINES[1, some])
    np.testing.assert_array_equal(
        vectors.approximate_cosine(QUERIES[1], some)[0],
        VECTORS.approximate_cosine(QUERIES[1], some)[0],
    )
    with_vectors = some[some % 7 > 0][:9]
    np.testing.assert_array_equal(
        vectors.mean_vectors(with_vectors), VECTORS.mean_vectors(with_vectors)
    )
    assert sum(int(segment.chunk_counts().sum()) for segment in vectors.segments) == CHUNKS
    flags = np.isin(rows, some)
    assert vectors.nearest_chunks(QUERIES[0], flags, 9) == VECTORS.nearest_chunks(
        QUERIES[0], flags, 9
    )


def test_documents_that_are_gone_have_no_cosine_and_no_chunks() -> None:
    gone = int(SEGMENT.document_rows[3])
    rows = np.arange(DOCUMENTS)
    rows[gone], rows[gone + 1 :] = -1, rows[gone + 1 :] - 1
    vectors = matrix_of(VectorSegment.of(STORED, rows))
    cosines = vectors.best_cosine(QUERIES, np.ones(DOCUMENTS - 1, np.bool_))
    np.testing.assert_array_equal(cosines, np.delete(ALL_COSINES, gone, axis=1))
    (segment,) = vectors.segments
    assert int(segment.chunk_counts().sum()) == CHUNKS - int(SEGMENT.chunk_counts()[3])
    (lines, _), (expected, _) = (
        vectors.chunk_cosines(QUERIES[0], gone), VECTORS.chunk_cosines(QUERIES[0], gone + 1)
    )  # fmt: skip
    assert lines == expected


def test_the_nearest_chunks_are_best_first_and_within_the_documents_given() -> None:
    within = np.arange(DOCUMENTS) % 2 == 0
    nearest = VECTORS.nearest_chunks(QUERIES[0], within, 5)
    of_line = {line: float(chunk @ QUERIES[0]) for line, chunk in enumerate(SEGMENT.stored.chunks)}
    cosines = [of_line[line] for _, line in nearest]
    assert cosines == sorted(cosines, reverse=True)
    assert all(row % 2 == 0 for row, _ in nearest)


def test_the_nearest_profiles_are_those_of_a_full_comparison() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((500, 16), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query, newer, codes = vectors[7], vectors[:1], quantize(vectors)
    entities, cosines = ProfileVectors.of(vectors, codes).nearest(query, 20)
    assert set(entities) == set(np.argsort(-(vectors @ query))[:20])
    np.testing.assert_allclose(cosines, vectors[entities] @ query, rtol=1e-6)
    sources = np.append(np.arange(499, 0, -1), 7)  # entity 500 has the same profile as entity 492
    changed = ProfileVectors(vectors, codes, sources, newer, np.array([501]))
    entities, cosines = changed.nearest(query, 1)
    assert entities.tolist() == [492, 499, 501]
    np.testing.assert_allclose(cosines, [1.0, 1.0, newer[0] @ query], rtol=1e-6)


def test_profiles_are_found_among_stored_ones_by_hash() -> None:
    stored = np.array([b"a", b"b", b"c", b"", b"d"])
    profiles = np.array([b"b", b"new", b"d", b"d"])
    assert rows_of_profiles(profiles, stored).tolist() == [1, -1, 4, 4]
