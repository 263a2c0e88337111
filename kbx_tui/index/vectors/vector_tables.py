"""Vectors read from the tables, into memory or into a file: those of some documents, or of all.

Chunks are compared in the context of their documents, weighted with the mean chunk and the title: a
chunk from the middle of a talk does not name the talk's topic. Chosen by the experiment "chunk in
the context of its document" in docs/quality.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kbx_tui.errors import IndexFault, IndexForeign
from kbx_tui.index.arrays import Ints, Matrix, Rows, Starts, Vector, Versions
from kbx_tui.index.derived_files import is_few
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import (
    READ_ATTEMPTS,
    Store,
    batched_clauses,
    is_missing_file,
    release_memory,
)
from kbx_tui.index.tables import text_hash
from kbx_tui.index.vectors.int8_codes import BLOCK, QuantizedVectors, quantize
from kbx_tui.index.vectors.vector_matrix import Coverage, are_texts
from kbx_tui.index.vectors.vector_segment import StoredVectors
from kbx_tui.index.versions import places_of, version_array

CHUNK_COLUMNS = ["version", "ordinal", "text_hash", "line_start", "line_end"]
VECTOR_COLUMNS = ["text_hash", "vector"]
CLAUSE_SIZE = 500
CHUNK_WEIGHT, DOCUMENT_WEIGHT, TITLE_WEIGHT = 0.7, 0.1, 0.2
"""Weights of best chunk, mean of all chunks, and title in the cosine of a document."""

NewArray = Callable[[str, DTypeLike, tuple[int, ...]], NDArray[Any]]
"""Makes an array of zeros, given its name, dtype and shape."""


class TableChanged(Exception):
    """The table of vectors changed between two reads."""


def read_vectors(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: Versions, dimension: int
) -> tuple[StoredVectors, Coverage]:
    """Read the vectors of the documents at `rows` and of the profiles with these hashes.

    The coverage is that of the documents. Raises IndexForeign for vectors of another dimension,
    IndexFault when they cannot be read.
    """
    fault = IndexFault(f"the vectors at {store.uri} keep changing; try again later")
    for _ in range(READ_ATTEMPTS):
        try:
            layout = find_vectors(store, snapshot, rows, profiles, dimension)
            vectors = layout.read(lambda _, dtype, shape: np.zeros(shape, dtype))
        except TableChanged:
            continue
        except IndexFault as error:
            if not (store.reopen_if_replaced() or is_missing_file(error)):
                raise
            fault = error
        else:
            release_memory()
            return vectors, layout.coverage
    raise fault


@dataclass(frozen=True, slots=True)
class VectorLayout:
    versions: Versions
    document_rows: Rows
    """Those that have chunks with a vector, as indices into `versions`."""
    starts: Starts
    lines: Ints
    profiles: Versions
    wanted: tuple[Rows, Rows, Rows]
    """Row in the table of the vector of each chunk, of the title of each document, and of each
    profile; -1 without a vector."""
    coverage: Coverage
    dimension: int
    copy: Callable[[Sequence[Rows], Sequence[Matrix]], None]

    @property
    def is_complete(self) -> bool:
        return not self.coverage.missing and bool((self.wanted[2] >= 0).all())

    def read(self, new: NewArray) -> StoredVectors:
        """Read the vectors into new arrays, and compute the others from them.

        Raises TableChanged when the table is no longer as it was, and IndexFault.
        """

        def add(name: str, array: NDArray[Any]) -> NDArray[Any]:
            added = new(name, array.dtype, array.shape)
            added[:] = array
            return added

        def matrix(name: str, dtype: DTypeLike, count: int) -> NDArray[Any]:
            return new(name, dtype, (count, self.dimension))

        def vector(name: str, count: int) -> Vector:
            return new(name, np.float32, (count,))

        chunks, documents, profiles = map(len, self.wanted)
        vectors = StoredVectors(
            versions=add("versions", self.versions),
            document_rows=add("document_rows", self.document_rows),
            starts=add("starts", self.starts),
            lines=add("lines", self.lines),
            chunks=matrix("chunks", np.float32, chunks),
            contexts=matrix("contexts", np.float32, documents),
            chunk_weights=vector("chunk_weights", documents),
            codes=matrix("codes", np.int8, chunks),
            code_scales=vector("code_scales", chunks),
            code_errors=vector("code_errors", chunks),
            profiles=add("profiles", np.where(self.wanted[2] >= 0, self.profiles, b"")),
            entities=matrix("entities", np.float32, profiles),
            entity_codes=matrix("entity_codes", np.int8, profiles),
            entity_scales=vector("entity_scales", profiles),
            entity_errors=vector("entity_errors", profiles),
        )
        # Into `contexts` go the vectors of the titles first.
        self.copy(self.wanted, (vectors.chunks, vectors.contexts, vectors.entities))
        for of_documents, of_chunks in _blocks(self.starts):
            starts = self.starts[of_documents.start : of_documents.stop + 1] - of_chunks.start
            contexts, weights = document_contexts(
                vectors.chunks[of_chunks], starts, vectors.contexts[of_documents]
            )
            vectors.contexts[of_documents], vectors.chunk_weights[of_documents] = contexts, weights
            document = np.repeat(np.arange(len(contexts)), np.diff(starts))
            weighted = vectors.chunks[of_chunks] * weights[document, None] + contexts[document]
            _put(quantize(weighted), vectors.quantized(), of_chunks)
        for begin in range(0, profiles, BLOCK):
            block = slice(begin, begin + BLOCK)
            _put(quantize(vectors.entities[block]), vectors.quantized_entities(), block)
        return vectors


def find_vectors(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: Versions, dimension: int
) -> VectorLayout:
    """Find the vectors of the documents at `rows` and of the profiles with these hashes.

    Of many the whole table is passed over, and only these vectors are held; of a few just their
    rows are read. Raises as `read_vectors`.
    """
    _check_dimension(store, dimension)
    versions = version_array(snapshot.versions)[rows]
    titles = [text_hash(snapshot.titles[row]) for row in rows.tolist()]
    if is_few(len(rows), len(snapshot.versions)) and is_few(len(profiles), len(snapshot.entities)):
        documents = (version.decode() for version in versions.tolist())
        chunks = _rows_by_value(store, "chunks", CHUNK_COLUMNS, "version", documents)
        of_profiles = (each.decode() for each in profiles.tolist())
        wanted_hashes = {*of_profiles, *titles, *chunks["text_hash"].to_pylist()}
        table = _rows_by_value(store, "vectors", VECTOR_COLUMNS, "text_hash", wanted_hashes)
        hashes = table["text_hash"]
    else:
        chunks = store.rows("chunks", CHUNK_COLUMNS)
        table, hashes = None, store.rows("vectors", ["text_hash"])["text_hash"]

    def copy(wanted: Sequence[Rows], matrices: Sequence[Matrix]) -> None:
        copy_from = partial(gather, hashes=hashes, wanted=wanted, matrices=matrices)
        if table is None:
            store.read_batches("vectors", VECTOR_COLUMNS, copy_from)
        else:
            copy_from(table.to_batches())

    of_chunks = places_of(chunks["version"], versions)
    vectors = places_of(chunks["text_hash"], hashes)
    is_wanted = of_chunks >= 0
    order = np.flatnonzero(is_wanted & (vectors >= 0))
    order = order[np.lexsort((chunks["ordinal"].to_numpy()[order], of_chunks[order]))]
    present, starts = np.unique(of_chunks[order], return_index=True)
    of_titles = places_of([titles[document] for document in present.tolist()], hashes)
    unsplit = np.bincount(of_chunks[is_wanted], minlength=len(versions)) == 0
    missing = int(np.count_nonzero(is_wanted & (vectors < 0)))
    missing += int(np.count_nonzero(are_texts(store, versions[unsplit])))
    lines = [chunks[name].to_numpy()[order] for name in ("line_start", "line_end")]
    return VectorLayout(
        versions=versions,
        document_rows=present,
        starts=np.append(starts, len(order)),
        lines=np.stack(lines, axis=1).astype(np.int32),
        profiles=profiles,
        wanted=(vectors[order], of_titles, places_of(profiles, hashes)),
        coverage=Coverage(len(order) + missing, missing),
        dimension=dimension,
        copy=copy,
    )


def document_contexts(chunks: Matrix, starts: Starts, titles: Matrix) -> tuple[Matrix, Vector]:
    """Return `StoredVectors.contexts` and `StoredVectors.chunk_weights`.

    `titles` has a row per document, zeros without a vector; then the title's weight is shared out
    among chunk and document.
    """
    if not len(titles):
        return titles, np.zeros(0, np.float32)
    contexts = np.add.reduceat(chunks, starts[:-1], axis=0)
    lengths = np.linalg.norm(contexts, axis=1, keepdims=True)
    contexts *= DOCUMENT_WEIGHT / np.maximum(lengths, 1e-9)
    weights = np.where(titles.any(axis=1), 1.0, CHUNK_WEIGHT + DOCUMENT_WEIGHT).astype(np.float32)
    contexts += TITLE_WEIGHT * titles
    contexts /= weights[:, None]
    return contexts, (CHUNK_WEIGHT / weights).astype(np.float32)


def gather(
    batches: Iterable[Any], hashes: Any, wanted: Sequence[Rows], matrices: Sequence[Matrix]
) -> None:
    """Copy vectors of a table into matrices: for each of `wanted`, one by its rows in the table.

    Where a row is -1, the matrix stays as it is. `hashes` is the column by which the rows were
    chosen. Raises TableChanged when the table no longer has it.
    """
    orders = [np.argsort(rows, kind="stable") for rows in wanted]
    ascending = [rows[order] for rows, order in zip(wanted, orders, strict=True)]
    begin = 0
    for batch in batches:
        end = begin + len(batch)
        if not batch["text_hash"].equals(_slice(hashes, begin, len(batch))):
            raise TableChanged
        vectors = batch["vector"].flatten().to_numpy().reshape(len(batch), -1)
        for rows, order, matrix in zip(ascending, orders, matrices, strict=True):
            first, last = rows.searchsorted((begin, end)).tolist()
            matrix[order[first:last]] = vectors[rows[first:last] - begin]
        begin = end
    if begin < len(hashes):
        raise TableChanged


def _slice(column: Any, begin: int, length: int) -> Any:
    part = column.slice(begin, length)
    return part.chunk(0) if part.num_chunks == 1 else part.combine_chunks()


def _put(codes: QuantizedVectors, into: QuantizedVectors, rows: slice) -> None:
    into.codes[rows], into.scales[rows], into.errors[rows] = codes.codes, codes.scales, codes.errors


def _blocks(starts: Starts) -> Iterator[tuple[slice, slice]]:
    first = 0
    while first < len(starts) - 1:
        end = int(starts.searchsorted(starts[first] + BLOCK))
        end = min(max(end, first + 1), len(starts) - 1)
        yield slice(first, end), slice(int(starts[first]), int(starts[end]))
        first = end


def _check_dimension(store: Store, dimension: int) -> None:
    stored = store.table("vectors").schema.field("vector").type.list_size
    if stored != dimension:
        raise IndexForeign(
            f"the index at {store.uri} has vectors of {stored} dimensions, the model makes "
            f"{dimension}: run `kbx index --full` to embed everything again"
        )


def _rows_by_value(
    store: Store, name: str, columns: list[str], column: str, values: Iterable[str]
) -> Any:
    import pyarrow as pa

    clauses = list(batched_clauses(column, sorted(values), CLAUSE_SIZE)) or ["false"]
    return pa.concat_tables([store.rows(name, columns, clause) for clause in clauses])
