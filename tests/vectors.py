"""Vectors made of a few arrays instead of an index."""

import numpy as np

from kbx_tui.index.arrays import Matrix, Rows, Starts, Vector
from kbx_tui.index.vectors.stored_vectors import QuantizedVectors, StoredVectors, quantize
from kbx_tui.index.vectors.vector_matrix import ProfileVectors

NO_PROFILES = ProfileVectors.of(np.empty((0, 1), np.float32), QuantizedVectors.empty(0, 1))


def stored_vectors(
    chunks: Matrix, starts: Starts, contexts: Matrix, weights: Vector, rows: Rows
) -> StoredVectors:
    """Return the vectors of documents without those of entities; chunk n is in line n."""
    of_chunks = np.repeat(np.arange(len(contexts)), np.diff(starts))
    codes = quantize(chunks * weights[of_chunks, None] + contexts[of_chunks])
    nothing = np.empty((0, chunks.shape[1]), np.float32)
    return StoredVectors(
        versions=np.array([f"{row:032x}" for row in range(rows.max(initial=-1) + 1)], np.bytes_),
        document_rows=rows,
        starts=starts,
        lines=np.repeat(np.arange(len(chunks), dtype=np.int32)[:, None], 2, axis=1),
        chunks=chunks,
        contexts=contexts,
        chunk_weights=weights,
        codes=codes.codes,
        code_scales=codes.scales,
        code_errors=codes.errors,
        profiles=np.empty(0, np.bytes_),
        entities=nothing,
        entity_codes=nothing.astype(np.int8),
        entity_scales=nothing[:, 0],
        entity_errors=nothing[:, 0],
    )
