"""Where the vectors of a table belong in a VectorSegment, without a Python object for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.versions import places_of, version_array
from kbx_tui.index.schema import text_hash
from kbx_tui.index.snapshot import Rows, Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.int8_codes import Matrix

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
