"""First and last lines of all chunks in memory: a query of the table takes longer than a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.released_memory import release_memory
from kbx_tui.index.columns.versions import places_of, version_array
from kbx_tui.index.snapshot import Rows, Snapshot
from kbx_tui.index.store import Store

LineRange = tuple[int, int]
"""First and last line of a chunk in its file, 1-based."""


@dataclass(frozen=True, slots=True)
class ChunkLines:
    """The lines of the chunks of one generation."""

    lines: NDArray[np.int32]
    """First and last line of each chunk, by document and position in it, shape (m, 2)."""
    ends: Rows
    """Where each document ends in `lines`, shape (documents,)."""

    def of(self, row: int) -> Sequence[LineRange]:
        """Return the lines of each chunk of the document in this row of the snapshot, in order."""
        start = int(self.ends[row - 1]) if row else 0
        return [(first, last) for first, last in self.lines[start : self.ends[row]].tolist()]


def read_chunk_lines(store: Store, snapshot: Snapshot) -> ChunkLines:
    """Read the lines of all chunks. A document that changed since `snapshot` has none."""
    chunks = store.rows("chunks", ["version", "ordinal", "line_start", "line_end"])
    documents = places_of(chunks["version"], version_array(snapshot.versions))
    order = np.lexsort((chunks["ordinal"].to_numpy(), documents))
    order = order[np.count_nonzero(documents < 0) :]
    lines = np.stack([chunks[name].to_numpy() for name in ("line_start", "line_end")], axis=1)
    counts = np.bincount(documents[order], minlength=len(snapshot.paths))
    del chunks
    release_memory()
    return ChunkLines(lines[order], np.cumsum(counts))
