"""Rows of all documents in the order of their paths, a few in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import quoted

BLOCK_BYTES, BLOCK_ROWS = 1 << 24, 2000
"""Bytes of files, and documents, up to which one block is read at once."""

BATCH = 500
"""Rows converted at once."""


def documents_by_path(store: Store, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield path and the given columns of every document, ordered by path. Raises IndexFault."""
    for clause in _clauses(store):
        yield from matching_documents(store, columns, clause)


def matching_documents(
    store: Store, columns: Sequence[str], where: str | None
) -> Iterator[dict[str, Any]]:
    """Yield path and the given columns of documents that match, which are read at once, by path."""
    selected = list(dict.fromkeys(["path", *columns]))
    for batch in store.rows("documents", selected, where).sort_by("path").to_batches(BATCH):
        yield from batch.to_pylist()


def _clauses(store: Store) -> Iterator[str | None]:
    """Yield a where clause for each block of documents; None for all of them."""
    table = store.rows("documents", ["path", "size"]).sort_by("path")
    sizes = table["size"].fill_null(0).to_numpy()
    blocks = np.stack((np.cumsum(sizes) // BLOCK_BYTES, np.arange(len(sizes)) // BLOCK_ROWS))
    begins = np.flatnonzero((blocks[:, 1:] != blocks[:, :-1]).any(axis=0)) + 1
    if not len(begins):
        yield None
        return
    for first, end in pairwise([0, *begins.tolist(), len(sizes)]):
        lowest, highest = (table["path"][row].as_py() for row in (first, end - 1))
        yield f"path >= {quoted(lowest)} AND path <= {quoted(highest)}"
