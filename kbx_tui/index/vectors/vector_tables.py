"""Vectors read from the tables: all of one generation, or those of a few documents."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import IndexFault, IndexForeign
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.schema import text_hash
from kbx_tui.index.snapshot import Keys, Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.vector_matrix import Matrix, Vectors, in_context, quantized_in_context

ATTEMPTS = 4
"""Readings of a table that is being written until that is called a failure."""

LISTED = 500
"""Values in one where clause."""

CHUNK_COLUMNS = ["version", "ordinal", "text_hash", "line_start"]


def read_vectors(store: Store, snapshot: Snapshot, dimension: int) -> Vectors:
    """Read all vectors for the documents and entities of `snapshot`.

    Raises IndexForeign for vectors of another length, IndexFault when they cannot be read.
    """
    _require(store, dimension)
    for _ in range(ATTEMPTS):
        with suppress(_Moved):
            found = _read(store, snapshot, dimension)
            _give_back_memory()
            return found
    raise IndexFault(f"the vectors at {store.uri} change all the time; try again later")


def read_some_vectors(
    store: Store, snapshot: Snapshot, rows: Sequence[int], profiles: Sequence[str], dimension: int
) -> tuple[Vectors, list[str], int]:
    """Read the vectors of the documents at `rows` and of the profiles with these hashes.

    Returns them, the hashes that `entities` belong to, which lack those without a vector, and how
    many chunks the documents have, those without a vector too. Raises as `read_vectors`.
    """
    import pyarrow as pa

    _require(store, dimension)
    found = pa.concat_tables(
        _listed_rows(store, "chunks", CHUNK_COLUMNS, [snapshot.versions[row] for row in rows])
    )
    titles = (text_hash(snapshot.titles[row]) for row in rows)
    wanted = {*profiles, *titles, *found["text_hash"].to_pylist()}
    table = pa.concat_tables(_listed_rows(store, "vectors", ["text_hash", "vector"], wanted))
    place = {text: row for row, text in enumerate(table["text_hash"].to_pylist())}
    matrix = table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, dimension)
    layout = _Layout.of(found, snapshot, place)
    chunks, named = _take(matrix, layout.vectors), _take(matrix, layout.titles)
    known = [text for text in profiles if text in place]
    entities = _take(matrix, np.array([place[text] for text in known], np.int64))
    return layout.with_vectors(chunks, named, entities), known, layout.split


class _Moved(Exception):
    """The table changed between two reads."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which vectors stand where."""

    document_rows: Keys
    starts: Keys
    lines: NDArray[np.int32]
    vectors: Keys
    """Row in the table of vectors of each chunk."""
    titles: Keys
    """The same of the title of each document, -1 where there is none."""
    split: int
    """Chunks of the documents, those without a vector too."""

    @classmethod
    def of(cls, found: Any, snapshot: Snapshot, place: Mapping[str, int]) -> _Layout:
        """Order chunks by document row, then place in the document; `place` tells where the vector
        of a text is.
        """
        row_of_version = {version: row for row, version in enumerate(snapshot.versions)}
        documents = _lookup(found["version"].to_pylist(), row_of_version)
        vectors = _lookup(found["text_hash"].to_pylist(), place)
        order = np.flatnonzero((documents >= 0) & (vectors >= 0))
        order = order[np.lexsort((found["ordinal"].to_numpy()[order], documents[order]))]
        document_rows, starts = np.unique(documents[order], return_index=True)
        return cls(
            document_rows=document_rows,
            starts=starts,
            lines=found["line_start"].to_numpy()[order],
            vectors=vectors[order],
            titles=_lookup([text_hash(snapshot.titles[row]) for row in document_rows], place),
            split=int(np.count_nonzero(documents >= 0)),
        )

    def with_vectors(self, chunks: Matrix, titles: Matrix, entities: Matrix) -> Vectors:
        contexts, shares = in_context(chunks, self.starts, titles)
        return Vectors(
            chunks=chunks,
            lines=self.lines,
            document_rows=self.document_rows,
            starts=self.starts,
            contexts=contexts,
            chunk_shares=shares,
            quantized=quantized_in_context(chunks, self.starts, contexts, shares),
            entities=entities,
            share=len(chunks) / self.split if self.split else 0.0,
        )


def _require(store: Store, dimension: int) -> None:
    stored = store.table("vectors").schema.field("vector").type.list_size
    if stored != dimension:
        raise IndexForeign(
            f"the index at {store.uri} has vectors of {stored} numbers, the model makes "
            f"{dimension}: run `kbx index --full` to embed anew"
        )


def _read(store: Store, snapshot: Snapshot, dimension: int) -> Vectors:
    hashes = store.rows("vectors", ["text_hash"])["text_hash"].combine_chunks()
    place = {text: row for row, text in enumerate(hashes.to_pylist())}
    layout = _Layout.of(store.rows("chunks", CHUNK_COLUMNS), snapshot, place)
    profiles = _lookup(profile_hashes(store, snapshot), place)
    wanted = [layout.vectors, layout.titles, profiles]
    return layout.with_vectors(*_gather(store, hashes, wanted, dimension))


def profile_hashes(store: Store, snapshot: Snapshot) -> list[str]:
    """Return for each entity the hash of its profile, empty where there is none."""
    found = store.rows("entities", ["id", "text_hash"])
    hashes = dict(zip(found["id"].to_pylist(), found["text_hash"].to_pylist(), strict=True))
    return [hashes.get(entity.id, "") for entity in snapshot.entities]


def _listed_rows(
    store: Store, name: str, columns: list[str], wanted: Iterable[str]
) -> Iterator[Any]:
    """Yield the rows whose first column, or hash, is one of the wanted: one table at least."""
    column = "version" if "version" in columns else "text_hash"
    values = sorted(wanted)
    for at in range(0, max(len(values), 1), LISTED):
        listed = ", ".join(map(quoted, values[at : at + LISTED]))
        yield store.rows(name, columns, f"{column} IN ({listed})" if listed else "false")


def _take(matrix: Matrix, rows: Keys) -> Matrix:
    """Return rows of a matrix, zeros for -1."""
    taken = np.zeros((len(rows), matrix.shape[1]), np.float32)
    known = rows >= 0
    taken[known] = matrix[rows[known]]
    return taken


def _gather(store: Store, hashes: Any, wanted: Sequence[Keys], dimension: int) -> list[Matrix]:
    """Return vectors by their rows in the table, zeros for -1: each is copied once.

    `hashes` is the table's column of them, by which the rows were chosen. Raises _Moved when the
    table has others now.
    """
    made = [np.zeros((len(rows), dimension), np.float32) for rows in wanted]
    begin = 0
    for batch in store.batches("vectors", ["text_hash", "vector"]):
        end = begin + len(batch)
        if not batch["text_hash"].equals(hashes.slice(begin, len(batch))):
            raise _Moved
        vectors = batch["vector"].flatten().to_numpy().reshape(-1, dimension)
        for rows, matrix in zip(wanted, made, strict=True):
            here = np.flatnonzero((rows >= begin) & (rows < end))
            matrix[here] = vectors[rows[here] - begin]
        begin = end
    return made


def _lookup(values: Sequence[str], places: Mapping[str, int]) -> Keys:
    return np.array(list(map(places.get, values, repeat(-1))), np.int64)


def _give_back_memory() -> None:
    """Let the system have what reading needed for a moment: with glibc, 200 MB of 100,000 documents
    stay taken otherwise.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
