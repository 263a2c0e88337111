"""Stored and newer vectors are merged by document row."""

from __future__ import annotations

import numpy as np

from kbx_tui.index.vectors.coverage import Coverage
from kbx_tui.index.vectors.merge_vectors import merge_documents, vectors_by_hash
from kbx_tui.index.vectors.vector_matrix import VectorMatrix, quantize_with_context

DIMENSION = 4


def matrix_of(
    first_lines: dict[int, list[int]], *, entities: int = 0, missing: int = 0
) -> VectorMatrix:
    """Return vectors of documents by row, with a chunk for each line where one starts.

    All numbers of a chunk are a tenth of its line, so that each chunk is recognizable.
    """
    lines = [line for document in first_lines.values() for line in document]
    sizes = [len(document) for document in first_lines.values()]
    chunks = (np.array([lines] * DIMENSION).T / 10).astype(np.float32)
    starts = np.cumsum([0, *sizes], dtype=np.int64)[:-1]
    contexts = (np.array([list(first_lines)] * DIMENSION).T / 99).astype(np.float32)
    weights = np.full(len(sizes), 0.7, np.float32)
    return VectorMatrix(
        chunks=chunks,
        lines=np.array(lines, np.int32),
        document_rows=np.array(list(first_lines), np.int64),
        starts=starts,
        contexts=contexts,
        chunk_weights=weights,
        quantized=quantize_with_context(chunks, starts, contexts, weights),
        entities=np.ones((entities, DIMENSION), np.float32),
        coverage=Coverage(len(lines) + missing, missing),
    )


def test_merged_documents_are_ordered_by_their_new_rows() -> None:
    stored = matrix_of({0: [1, 2], 1: [3], 2: [4, 5]}, entities=2)
    newer = matrix_of({1: [6], 4: [7, 8]})
    rows = np.array([2, -1, 0])  # document 1 was deleted
    merged = merge_documents(stored, rows, newer)
    assert merged.document_rows.tolist() == [0, 1, 2, 4]
    assert merged.lines.tolist() == [4, 5, 6, 1, 2, 7, 8]
    assert merged.starts.tolist() == [0, 2, 3, 5]
    np.testing.assert_allclose(merged.chunks[:, 0], merged.lines / 10, rtol=1e-6)
    np.testing.assert_allclose(merged.contexts[:, 0] * 99, [2, 1, 0, 4], rtol=1e-6)
    assert len(merged.entities) == 2


def test_merging_copies_the_codes_of_each_chunk() -> None:
    stored, newer = matrix_of({0: [1, 2], 1: [3]}), matrix_of({1: [4]})
    merged = merge_documents(stored, np.array([2, 0]), newer)
    expected = np.concatenate((stored.quantized.scales[[2]], newer.quantized.scales))
    np.testing.assert_array_equal(merged.quantized.scales[:2], expected)


def test_newer_chunks_without_vectors_lower_the_coverage() -> None:
    stored, newer = matrix_of({0: [1, 2, 3]}), matrix_of({1: [4]}, missing=1)
    merged = merge_documents(stored, np.array([0]), newer)
    assert merged.coverage == Coverage(texts=5, missing=1)
    assert merged.coverage.share == 4 / 5


def test_merging_without_documents_leaves_nothing_to_embed() -> None:
    nothing = matrix_of({})
    merged = merge_documents(matrix_of({0: [1]}), np.array([-1]), nothing)
    assert (len(merged.chunks), merged.coverage) == (0, Coverage(0, 0))
    assert merged.coverage.share == 1.0


def test_vectors_are_chosen_by_hash_and_zero_when_missing() -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    chosen = vectors_by_hash(["c", "x", "a", ""], ["a", "", "c"], vectors)
    assert chosen.tolist() == [[4, 5], [0, 0], [0, 1], [0, 0]]
