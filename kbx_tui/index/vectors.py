"""Vectors of one generation in memory: exact similarity under any filter, no index to tune.

53,000 chunks are 80 MB and one query takes milliseconds; an approximate index would lose rows
under a path filter (the default probes of LanceDB found 35 % of them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kbx_tui.errors import IndexForeign
from kbx_tui.index.snapshot import Keys, Snapshot
from kbx_tui.index.store import Store

Matrix = NDArray[np.float32]

BLOCK = 1024
"""Vectors compared with all queries before the next: reading them is what takes the time."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Chunk vectors by document, and entity profile vectors by entity."""

    chunks: Matrix
    """Shape (m, dimension), unit length, sorted by document row, then place in the document."""
    lines: NDArray[np.int32]
    """First line in its file of each chunk, 1-based."""
    document_rows: Keys
    """Document rows that have vectors, ascending."""
    starts: Keys
    """Where each of `document_rows` begins in `chunks`."""
    entities: Matrix
    """Shape (e, dimension), parallel to the snapshot's entities; zeros where there is none."""
    share: float
    """Share of the chunks that have a vector, 0..1; 0 while nothing is split yet."""

    def best_cosine(self, queries: Matrix, documents: int) -> NDArray[np.float64]:
        """Return the cosine of each document's best chunk.

        `queries` has shape (q, dimension); the result (q, documents), NaN without vectors.
        """
        best = np.full((len(queries), documents), np.nan)
        if len(self.document_rows):
            cosines = np.empty((len(queries), len(self.chunks)), np.float32)
            for at in range(0, len(self.chunks), BLOCK):
                block = slice(at, at + BLOCK)
                for row, query in enumerate(queries):
                    np.dot(self.chunks[block], query, out=cosines[row, block])
            best[:, self.document_rows] = np.maximum.reduceat(cosines, self.starts, axis=1)
        return best

    def best_line(self, query: NDArray[np.float32], document_row: int) -> int:
        """Return the line where a document's best chunk begins, 0 without vectors."""
        at = int(np.searchsorted(self.document_rows, document_row))
        if at >= len(self.document_rows) or self.document_rows[at] != document_row:
            return 0
        end = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.chunks)
        part = slice(int(self.starts[at]), int(end))
        return int(self.lines[part][np.argmax(self.chunks[part] @ query)])


def read_vectors(store: Store, snapshot: Snapshot, dimension: int) -> Vectors:
    """Read all vectors for the documents and entities of `snapshot`."""
    # Two BLAS threads on two busy cores turn 1 ms into 8; one is as fast on a quiet machine.
    threadpool_limits(limits=1, user_api="blas")
    table = store.rows("vectors", ["text_hash", "vector"])
    stored = table.schema.field("vector").type.list_size
    if stored != dimension:
        raise IndexForeign(
            f"the index at {store.uri} has vectors of {stored} numbers, the model makes "
            f"{dimension}: run `kbx index --full` to embed anew"
        )
    place = {text: row for row, text in enumerate(table["text_hash"].to_pylist())}
    current = store.rows("documents", ["path", "version"])
    row_of_version = {
        version: snapshot.row_of[path]
        for path, version in zip(
            current["path"].to_pylist(), current["version"].to_pylist(), strict=True
        )
        if path in snapshot.row_of
    }
    found = store.rows("chunks", ["version", "ordinal", "text_hash", "line_start"])
    documents = _lookup(found["version"].to_pylist(), row_of_version)
    vectors = _lookup(found["text_hash"].to_pylist(), place)
    ordinals = found["ordinal"].to_numpy()
    usable = (documents >= 0) & (vectors >= 0)
    order = np.flatnonzero(usable)
    order = order[np.lexsort((ordinals[order], documents[order]))]
    document_rows, starts = np.unique(documents[order], return_index=True)
    split = np.count_nonzero(documents >= 0)
    return Vectors(
        chunks=_gather(table["vector"], vectors[order], dimension),
        lines=found["line_start"].to_numpy()[order],
        document_rows=document_rows,
        starts=starts,
        entities=_gather(table["vector"], _entity_rows(store, snapshot, place), dimension),
        share=len(order) / split if split else 0.0,
    )


def _entity_rows(store: Store, snapshot: Snapshot, place: Mapping[str, int]) -> Keys:
    """Return for each entity the row of its profile's vector, -1 where there is none."""
    found = store.rows("entities", ["id", "text_hash"])
    hashes = dict(zip(found["id"].to_pylist(), found["text_hash"].to_pylist(), strict=True))
    return _lookup([hashes.get(entity.id, "") for entity in snapshot.entities], place)


def _gather(column: Any, rows: Keys, dimension: int) -> Matrix:
    """Return the given rows of a column of vectors, zeros for -1; each is copied once."""
    made = np.zeros((len(rows), dimension), np.float32)
    begin = 0
    for part in column.chunks:
        vectors = part.flatten().to_numpy().reshape(-1, dimension)
        here = np.flatnonzero((rows >= begin) & (rows < begin + len(vectors)))
        made[here] = vectors[rows[here] - begin]
        begin += len(vectors)
    return made


def _lookup(values: Sequence[str], places: Mapping[str, int]) -> Keys:
    return np.fromiter((places.get(v, -1) for v in values), np.int64, len(values))
