"""Vectors read from the tables: those of a whole generation, or of some documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import IndexFault, IndexForeign
from kbx_tui.index.derived_files import is_few
from kbx_tui.index.snapshot import Rows, Snapshot
from kbx_tui.index.store import (
    READ_ATTEMPTS,
    Store,
    batched_clauses,
    is_missing_file,
    release_memory,
)
from kbx_tui.index.tables import text_hash
from kbx_tui.index.vectors.int8_codes import BLOCK, Matrix, QuantizedVectors, Vector, quantize
from kbx_tui.index.vectors.vector_matrix import Coverage, ProfileVectors, VectorMatrix, are_texts
from kbx_tui.index.vectors.vector_segment import VectorSegment
from kbx_tui.index.versions import VersionArray, places_of, version_array

CLAUSE_SIZE = 500
"""Values in one where clause."""


def read_vectors(store: Store, snapshot: Snapshot, dimension: int) -> VectorMatrix:
    """Read all vectors of the documents and entities of `snapshot`.

    Raises IndexForeign for vectors of another dimension, IndexFault when they cannot be read.
    """
    rows, profiles = np.arange(len(snapshot.versions)), snapshot.entities.stored.profiles
    found = _find_in_one_pass(store, snapshot, rows, profiles, dimension)
    coverage = coverage_of(store, snapshot, found.layout, found.of_profiles)
    return _vectors(found.layout, coverage, found.chunks, found.titles, found.profiles)


def read_some_vectors(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: VersionArray, dimension: int
) -> tuple[VectorMatrix, VersionArray]:
    """Read the vectors of the documents at `rows` and of the profiles with these hashes.

    Returns the vectors, and the hashes of their `profiles`, without those that have no vector. The
    coverage counts the chunks of the documents alone. Raises as `read_vectors`.
    """
    are_few = is_few(len(rows), len(snapshot.versions))
    are_few = are_few and is_few(len(profiles), len(snapshot.entities))
    find = _find_by_hash if are_few else _find_in_one_pass
    found = find(store, snapshot, rows, profiles, dimension)
    has_vector = found.of_profiles >= 0
    coverage = coverage_of(store, snapshot, found.layout)
    vectors = _vectors(
        found.layout, coverage, found.chunks, found.titles, found.profiles[has_vector]
    )
    return vectors, profiles[has_vector]


@dataclass(frozen=True, slots=True)
class _Found:
    """Vectors of some documents and profiles."""

    layout: ChunkLayout
    of_profiles: Rows
    """Row in the table of the vector of each profile, -1 without one."""
    chunks: Matrix
    titles: Matrix
    profiles: Matrix
    """Zeros, as in the two before, without a vector."""


def _find_by_hash(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: VersionArray, dimension: int
) -> _Found:
    """Read a few vectors: time grows with their number times the size of the table."""
    check_dimension(store, dimension)
    versions = [snapshot.versions[row] for row in rows.tolist()]
    chunks = _rows_by_value(store, "chunks", CHUNK_COLUMNS, "version", versions)
    titles = (text_hash(snapshot.titles[row]) for row in rows.tolist())
    of_entities = (each.decode() for each in profiles.tolist())
    hashes = {*of_entities, *titles, *chunks["text_hash"].to_pylist()}
    table = _rows_by_value(store, "vectors", ["text_hash", "vector"], "text_hash", hashes)
    matrix = table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, dimension)
    layout = ChunkLayout.of(chunks, snapshot, rows, table["text_hash"])
    of_profiles = places_of(profiles, table["text_hash"])
    wanted = (layout.vectors, layout.titles, of_profiles)
    return _Found(layout, of_profiles, *(_rows_or_zeros(matrix, each) for each in wanted))


def _find_in_one_pass(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: VersionArray, dimension: int
) -> _Found:
    """Read many vectors, or all: only these are held, however many the table has."""
    check_dimension(store, dimension)
    fault = IndexFault(f"the vectors at {store.uri} keep changing; try again later")
    for _ in range(READ_ATTEMPTS):
        try:
            found = _pass_over(store, snapshot, rows, profiles, dimension)
        except TableChanged:
            continue
        except IndexFault as error:
            if not (store.reopen_if_replaced() or is_missing_file(error)):
                raise
            fault = error
        else:
            release_memory()
            return found
    raise fault


def _pass_over(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: VersionArray, dimension: int
) -> _Found:
    hashes = store.rows("vectors", ["text_hash"])["text_hash"]
    layout = ChunkLayout.of(store.rows("chunks", CHUNK_COLUMNS), snapshot, rows, hashes)
    of_profiles = places_of(profiles, hashes)
    wanted = (layout.vectors, layout.titles, of_profiles)
    matrices = [np.zeros((len(each), dimension), np.float32) for each in wanted]
    gather(store, hashes, wanted, matrices)
    return _Found(layout, of_profiles, *matrices)


def coverage_of(
    store: Store, snapshot: Snapshot, layout: ChunkLayout, profiles: Rows | None = None
) -> Coverage:
    """Count the texts of documents and those without a vector. Raises IndexFault.

    And, given the rows of their vectors in the table, -1 for none, the profiles of entities.
    """
    unsplit = are_texts(store, version_array(snapshot.versions)[layout.unsplit])
    missing = layout.missing + int(np.count_nonzero(unsplit))
    coverage = Coverage(len(layout.vectors) + missing, missing)
    if profiles is not None:
        coverage += Coverage(len(profiles), int(np.count_nonzero(profiles < 0)))
    return coverage


def _vectors(
    layout: ChunkLayout, coverage: Coverage, chunks: Matrix, titles: Matrix, entities: Matrix
) -> VectorMatrix:
    """Return vectors in one segment, from those of its chunks and of the titles of documents."""
    contexts, chunk_weights = document_contexts(chunks, layout.starts, titles)
    segment = VectorSegment.of(
        chunks=chunks,
        lines=layout.lines,
        starts=layout.starts,
        contexts=contexts,
        chunk_weights=chunk_weights,
        quantized=quantize_with_context(chunks, layout.starts, contexts, chunk_weights),
        document_rows=layout.document_rows,
    )
    return VectorMatrix((segment,), ProfileVectors.of(entities, quantize(entities)), coverage)


def check_dimension(store: Store, dimension: int) -> None:
    """Raise IndexForeign unless the vectors in the table have so many numbers."""
    stored = store.table("vectors").schema.field("vector").type.list_size
    if stored != dimension:
        raise IndexForeign(
            f"the index at {store.uri} has vectors of {stored} dimensions, the model makes "
            f"{dimension}: run `kbx index --full` to embed everything again"
        )


def _rows_or_zeros(matrix: Matrix, rows: Rows) -> Matrix:
    """Return rows of a matrix, zeros for -1."""
    chosen = np.zeros((len(rows), matrix.shape[1]), np.float32)
    chosen[rows >= 0] = matrix[rows[rows >= 0]]
    return chosen


def _rows_by_value(
    store: Store, name: str, columns: list[str], column: str, values: Iterable[str]
) -> Any:
    """Return the rows whose `column` is one of the values, as a pyarrow Table."""
    import pyarrow as pa

    clauses = list(batched_clauses(column, sorted(values), CLAUSE_SIZE)) or ["false"]
    return pa.concat_tables([store.rows(name, columns, clause) for clause in clauses])


CHUNK_COLUMNS = ["version", "ordinal", "text_hash", "line_start"]
"""Columns of table chunks that `ChunkLayout.of` needs."""


class TableChanged(Exception):
    """The table of vectors changed between two reads."""


@dataclass(frozen=True, slots=True)
class ChunkLayout:
    """The chunks of a VectorSegment, with the rows of their vectors in the table."""

    document_rows: Rows
    starts: Rows
    lines: NDArray[np.int32]
    vectors: Rows
    """Row in the table of each chunk's vector."""
    titles: Rows
    """Row in the table of the vector of each document's title, -1 without a vector."""
    missing: int
    """Chunks of the documents that have no vector."""
    unsplit: Rows
    """Rows of the documents without a chunk."""

    @classmethod
    def of(cls, chunks: Any, snapshot: Snapshot, rows: Rows, hashes: Any) -> Self:
        """Order the chunks of the documents at some rows by row, then position in the document.

        `chunks` is a pyarrow Table with `CHUNK_COLUMNS`; `hashes`, a pyarrow column, those of the
        texts that have a vector, in the order of the table.
        """
        documents = places_of(chunks["version"], version_array(snapshot.versions)[rows])
        vectors = places_of(chunks["text_hash"], hashes)
        is_wanted = documents >= 0
        order = np.flatnonzero(is_wanted & (vectors >= 0))
        order = order[np.lexsort((chunks["ordinal"].to_numpy()[order], documents[order]))]
        present, starts = np.unique(documents[order], return_index=True)
        titles = [text_hash(snapshot.titles[row]) for row in rows[present].tolist()]
        return cls(
            document_rows=rows[present],
            starts=starts,
            lines=chunks["line_start"].to_numpy()[order],
            vectors=vectors[order],
            titles=places_of(titles, hashes),
            missing=int(np.count_nonzero(is_wanted & (vectors < 0))),
            unsplit=rows[np.bincount(documents[is_wanted], minlength=len(rows)) == 0],
        )


def gather(store: Store, hashes: Any, wanted: Sequence[Rows], matrices: Sequence[Matrix]) -> None:
    """Copy vectors of the table into matrices: for each of `wanted`, one by its rows in the table.

    Where a row is -1, the matrix stays as it is. `hashes` is the column by which the rows were
    chosen. Raises TableChanged when the table no longer has it, and IndexFault.
    """
    orders = [np.argsort(rows, kind="stable") for rows in wanted]
    ascending = [rows[order] for rows, order in zip(wanted, orders, strict=True)]
    dimension = matrices[0].shape[1]

    def copy(batches: Iterable[Any]) -> None:
        begin = 0
        for batch in batches:
            end = begin + len(batch)
            if not batch["text_hash"].equals(_slice(hashes, begin, len(batch))):
                raise TableChanged
            vectors = batch["vector"].flatten().to_numpy().reshape(-1, dimension)
            for rows, order, matrix in zip(ascending, orders, matrices, strict=True):
                first, last = rows.searchsorted((begin, end)).tolist()
                matrix[order[first:last]] = vectors[rows[first:last] - begin]
            begin = end
        if begin < len(hashes):
            raise TableChanged

    store.read_batches("vectors", ["text_hash", "vector"], copy)


def _slice(column: Any, begin: int, length: int) -> Any:
    """Return a part of a pyarrow column as an array."""
    part = column.slice(begin, length)
    return part.chunk(0) if part.num_chunks == 1 else part.combine_chunks()


CHUNK_WEIGHT, DOCUMENT_WEIGHT, TITLE_WEIGHT = 0.7, 0.1, 0.2
"""Weights of best chunk, mean of all chunks, and title in the cosine of a document."""


def document_contexts(chunks: Matrix, starts: Rows, titles: Matrix) -> tuple[Matrix, Vector]:
    """Return `VectorSegment.contexts` and `VectorSegment.chunk_weights`.

    `titles` has a row per document, zeros without a vector; then the title's weight is shared out
    among chunk and document.
    """
    if not len(starts):
        return titles, np.zeros(0, np.float32)
    contexts = np.add.reduceat(chunks, starts, axis=0)
    lengths = np.linalg.norm(contexts, axis=1, keepdims=True)
    contexts *= DOCUMENT_WEIGHT / np.maximum(lengths, 1e-9)
    weights = np.where(titles.any(axis=1), 1.0, CHUNK_WEIGHT + DOCUMENT_WEIGHT).astype(np.float32)
    contexts += TITLE_WEIGHT * titles
    contexts /= weights[:, None]
    return contexts, (CHUNK_WEIGHT / weights).astype(np.float32)


def quantize_with_context(
    chunks: Matrix, starts: Rows, contexts: Matrix, chunk_weights: Vector
) -> QuantizedVectors:
    """Return the codes of weighted chunk plus context, for each chunk."""
    quantized = QuantizedVectors.empty(*chunks.shape)
    documents = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chunks)))
    for begin in range(0, len(chunks), BLOCK):
        block = slice(begin, begin + BLOCK)
        document = documents[block]
        quantized.put(begin, chunks[block] * chunk_weights[document, None] + contexts[document])
    return quantized
