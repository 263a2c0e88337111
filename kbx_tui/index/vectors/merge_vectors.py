"""Merging of mapped vectors with those of newer documents. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from kbx_tui.index.snapshot import Rows, rows_of
from kbx_tui.index.vectors.coverage import Coverage
from kbx_tui.index.vectors.int8_codes import Matrix, QuantizedVectors
from kbx_tui.index.vectors.vector_matrix import VectorMatrix, rows_or_zeros


def merge_documents(stored: VectorMatrix, rows: Rows, newer: VectorMatrix) -> VectorMatrix:
    """Return the documents of both, ordered by row, with the entities of `stored`.

    `rows` maps the document rows of `stored`, which has all its vectors, to the new ones, -1 for a
    document to leave out.
    """
    new_rows = np.concatenate((rows[stored.document_rows], newer.document_rows))
    order = np.argsort(new_rows, kind="stable")
    order = order[new_rows[order] >= 0]
    sizes = np.concatenate((stored.chunk_counts(), newer.chunk_counts()))[order]
    ends = np.cumsum(sizes)
    total, dimension = int(sizes.sum()), stored.chunks.shape[1]
    kept = Coverage(total - len(newer.chunks), 0)
    merged = VectorMatrix(
        chunks=np.empty((total, dimension), np.float32),
        lines=np.empty(total, np.int32),
        document_rows=new_rows[order],
        starts=ends - sizes,
        contexts=np.empty((len(order), dimension), np.float32),
        chunk_weights=np.empty(len(order), np.float32),
        quantized=QuantizedVectors.empty(total, dimension),
        entities=stored.entities,
        coverage=kept + newer.coverage,
    )
    stored_count = len(stored.document_rows)
    for first, end in _runs(order, stored_count):
        position = int(order[first])
        is_stored = position < stored_count
        source, source_first = (stored, position) if is_stored else (newer, position - stored_count)
        _copy_documents(source, source_first, merged, first, end)
    return merged


def vectors_by_hash(wanted: Sequence[str], hashes: Sequence[str], vectors: Matrix) -> Matrix:
    """Return the vector of each wanted hash, zeros where `hashes` does not have it.

    `hashes` are those of the rows of `vectors`; empty ones are ignored.
    """
    row_of = {text_hash: row for row, text_hash in enumerate(hashes) if text_hash}
    return rows_or_zeros(vectors, rows_of(wanted, row_of))


def _runs(order: Rows, border: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the runs of `order` that are consecutive and on one side of `border`.

    A run is copied in one step.
    """
    if not len(order):
        return
    is_border = (np.diff(order) != 1) | ((order[1:] >= border) != (order[:-1] >= border))
    yield from pairwise([0, *(np.flatnonzero(is_border) + 1).tolist(), len(order)])


def _copy_documents(
    source: VectorMatrix, source_first: int, target: VectorMatrix, first: int, end: int
) -> None:
    """Copy consecutive documents into the documents `first` to `end` of `target`."""
    documents = slice(source_first, source_first + end - first)
    begin, target_begin = int(source.starts[source_first]), int(target.starts[first])
    size = target.chunk_end(end - 1) - target_begin
    chunks, target_chunks = slice(begin, begin + size), slice(target_begin, target_begin + size)
    target.chunks[target_chunks] = source.chunks[chunks]
    target.lines[target_chunks] = source.lines[chunks]
    target.quantized.copy(target_begin, source.quantized.view(begin, begin + size))
    target.contexts[first:end] = source.contexts[documents]
    target.chunk_weights[first:end] = source.chunk_weights[documents]
