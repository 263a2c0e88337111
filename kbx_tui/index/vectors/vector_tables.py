"""Vectors read from the tables: those of a whole generation, or of a few documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import IndexFault, IndexForeign
from kbx_tui.index.columns.released_memory import release_memory
from kbx_tui.index.schema import text_hash
from kbx_tui.index.snapshot import Rows, Snapshot, rows_of
from kbx_tui.index.store import Store
from kbx_tui.index.store_errors import READ_ATTEMPTS, is_missing_file
from kbx_tui.index.vectors.coverage import Coverage, count_passages, count_profiles
from kbx_tui.index.vectors.document_contexts import document_contexts, quantize_with_context
from kbx_tui.index.vectors.int8_codes import Matrix
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.index.vectors.vector_segment import VectorSegment
from kbx_tui.index.where_clause import batched_clauses

CLAUSE_SIZE = 500
"""Values in one where clause."""

CHUNK_COLUMNS = ["version", "ordinal", "text_hash", "line_start"]


def read_vectors(store: Store, snapshot: Snapshot, dimension: int) -> VectorMatrix:
    """Read all vectors of the documents and entities of `snapshot`.

    Raises IndexForeign for vectors of another dimension, IndexFault when they cannot be read.
    """
    _check_dimension(store, dimension)
    fault = IndexFault(f"the vectors at {store.uri} keep changing; try again later")
    for _ in range(READ_ATTEMPTS):
        try:
            vectors = _read_all(store, snapshot, dimension)
        except _TableChanged:
            continue
        except IndexFault as error:
            if not (store.reopen_if_replaced() or is_missing_file(error)):
                raise
            fault = error
        else:
            release_memory()
            return vectors
    raise fault


def read_some_vectors(
    store: Store, snapshot: Snapshot, rows: Sequence[int], profiles: Sequence[str], dimension: int
) -> tuple[VectorMatrix, list[str]]:
    """Read the vectors of the documents at `rows` and of the profiles with these hashes.

    Returns the vectors, and the hashes of their `entities`, without those that have no vector. The
    coverage counts the chunks of the documents alone. Raises as `read_vectors`.
    """
    _check_dimension(store, dimension)
    versions = [snapshot.versions[row] for row in rows]
    chunks = _rows_by_value(store, "chunks", CHUNK_COLUMNS, "version", versions)
    titles = (text_hash(snapshot.titles[row]) for row in rows)
    hashes = {*profiles, *titles, *chunks["text_hash"].to_pylist()}
    table = _rows_by_value(store, "vectors", ["text_hash", "vector"], "text_hash", hashes)
    vector_row = {text: row for row, text in enumerate(table["text_hash"].to_pylist())}
    matrix = table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, dimension)
    layout = _Layout.of(chunks, snapshot, vector_row)
    with_vectors = [text for text in profiles if text in vector_row]
    wanted = (layout.vectors, layout.titles, rows_of(with_vectors, vector_row))
    coverage = count_passages(store, versions, chunks, vector_row)
    found = (rows_or_zeros(matrix, rows) for rows in wanted)
    return layout.with_vectors(*found, coverage=coverage), with_vectors


def rows_or_zeros(matrix: Matrix, rows: Rows) -> Matrix:
    """Return rows of a matrix, zeros for -1."""
    chosen = np.zeros((len(rows), matrix.shape[1]), np.float32)
    chosen[rows >= 0] = matrix[rows[rows >= 0]]
    return chosen


def vectors_by_hash(wanted: Sequence[str], hashes: Sequence[str], vectors: Matrix) -> Matrix:
    """Return the vector of each wanted hash, zeros where `hashes` does not have it.

    `hashes` are those of the rows of `vectors`; empty ones are ignored.
    """
    row_of = {text_hash: row for row, text_hash in enumerate(hashes) if text_hash}
    return rows_or_zeros(vectors, rows_of(wanted, row_of))


def hash_texts(hashes: NDArray[np.bytes_]) -> list[str]:
    """Return an array of hashes as texts."""
    return [each.decode() for each in hashes.tolist()]


class _TableChanged(Exception):
    """The table changed between two reads."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """The chunks of a VectorSegment, with the rows of their vectors in the table."""

    document_rows: Rows
    starts: Rows
    lines: NDArray[np.int32]
    vectors: Rows
    """Row in the table of each chunk's vector."""
    titles: Rows
    """Row in the table of the vector of each document's title, -1 without a vector."""

    @classmethod
    def of(cls, chunks: Any, snapshot: Snapshot, vector_row: Mapping[str, int]) -> _Layout:
        """Order chunks by document row, then position in the document.

        `vector_row` maps the hash of a text to its row in the table of vectors.
        """
        row_of_version = {version: row for row, version in enumerate(snapshot.versions)}
        documents = rows_of(chunks["version"].to_pylist(), row_of_version)
        vectors = rows_of(chunks["text_hash"].to_pylist(), vector_row)
        order = np.flatnonzero((documents >= 0) & (vectors >= 0))
        order = order[np.lexsort((chunks["ordinal"].to_numpy()[order], documents[order]))]
        document_rows, starts = np.unique(documents[order], return_index=True)
        titles = [text_hash(snapshot.titles[row]) for row in document_rows]
        return cls(
            document_rows=document_rows,
            starts=starts,
            lines=chunks["line_start"].to_numpy()[order],
            vectors=vectors[order],
            titles=rows_of(titles, vector_row),
        )

    def with_vectors(
        self, chunks: Matrix, titles: Matrix, entities: Matrix, *, coverage: Coverage
    ) -> VectorMatrix:
        contexts, chunk_weights = document_contexts(chunks, self.starts, titles)
        segment = VectorSegment.of(
            chunks=chunks,
            lines=self.lines,
            starts=self.starts,
            contexts=contexts,
            chunk_weights=chunk_weights,
            quantized=quantize_with_context(chunks, self.starts, contexts, chunk_weights),
            document_rows=self.document_rows,
        )
        return VectorMatrix((segment,), entities, coverage)


def _check_dimension(store: Store, dimension: int) -> None:
    stored = store.table("vectors").schema.field("vector").type.list_size
    if stored != dimension:
        raise IndexForeign(
            f"the index at {store.uri} has vectors of {stored} dimensions, the model makes "
            f"{dimension}: run `kbx index --full` to embed everything again"
        )


def _read_all(store: Store, snapshot: Snapshot, dimension: int) -> VectorMatrix:
    hashes = store.rows("vectors", ["text_hash"])["text_hash"].combine_chunks()
    vector_row = {text: row for row, text in enumerate(hashes.to_pylist())}
    chunks, profiles = (
        store.rows("chunks", CHUNK_COLUMNS),
        hash_texts(snapshot.entities.stored.profiles),
    )
    layout = _Layout.of(chunks, snapshot, vector_row)
    wanted = [layout.vectors, layout.titles, rows_of(profiles, vector_row)]
    coverage = count_passages(store, snapshot.versions, chunks, vector_row)
    coverage += count_profiles(profiles, vector_row)
    return layout.with_vectors(*_gather(store, hashes, wanted, dimension), coverage=coverage)


def _rows_by_value(
    store: Store, name: str, columns: list[str], column: str, values: Iterable[str]
) -> Any:
    """Return the rows whose `column` is one of the values, as a pyarrow Table."""
    import pyarrow as pa

    clauses = list(batched_clauses(column, sorted(values), CLAUSE_SIZE)) or ["false"]
    return pa.concat_tables([store.rows(name, columns, clause) for clause in clauses])


def _gather(store: Store, hashes: Any, wanted: Sequence[Rows], dimension: int) -> list[Matrix]:
    """Return vectors by their rows in the table, zeros for -1, copying each vector once.

    `hashes` is the column by which the rows were chosen. Raises _TableChanged when the table no
    longer has it.
    """
    matrices = [np.zeros((len(rows), dimension), np.float32) for rows in wanted]

    def copy(batches: Iterable[Any]) -> None:
        begin = 0
        for batch in batches:
            end = begin + len(batch)
            if not batch["text_hash"].equals(hashes.slice(begin, len(batch))):
                raise _TableChanged
            vectors = batch["vector"].flatten().to_numpy().reshape(-1, dimension)
            for rows, matrix in zip(wanted, matrices, strict=True):
                in_batch = np.flatnonzero((rows >= begin) & (rows < end))
                matrix[in_batch] = vectors[rows[in_batch] - begin]
            begin = end

    store.read_batches("vectors", ["text_hash", "vector"], copy)
    return matrices
