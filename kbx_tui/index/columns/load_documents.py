"""Loading of the documents of the newest generation, and refreshing of documents.bin.

Documents newer than the file are read from their table, into a segment of their own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.stored_documents import (
    COLUMNS,
    DocumentSegment,
    StoredDocuments,
    make_documents,
)
from kbx_tui.index.columns.text_column import SortedTexts
from kbx_tui.index.columns.versions import VersionArray, have_same_versions
from kbx_tui.index.derived_files import DOCUMENTS, is_few
from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import batched_clauses

BATCH = 500
"""Documents listed in one where clause, or converted at once."""


def load_documents(store: Store) -> list[DocumentSegment]:
    """Return the documents of the newest generation, their rows by path. Raises IndexFault."""
    if (mapped := DOCUMENTS.map(store)) is not None:
        current = _as_array(store.rows("documents", ["version"])["version"])
        if have_same_versions(current, mapped.versions):
            return [DocumentSegment.of(mapped)]
        is_newer = ~np.isin(current, mapped.versions)
        if is_few(int(np.count_nonzero(is_newer)), len(current)):
            newer = _read(store, [version.decode() for version in current[is_newer].tolist()])
            if len(newer) == np.count_nonzero(is_newer):  # else they changed again meanwhile
                return _in_order(mapped, np.isin(mapped.versions, current), newer)
    return [DocumentSegment.of(_read(store))]


def refresh_documents_file(store: Store, versions: Sequence[str]) -> None:
    """Bring documents.bin up to date where it is stale. Raises IndexFault.

    `versions` are those in table documents.
    """
    DOCUMENTS.refresh(store, versions, lambda: _read(store))


def _read(store: Store, versions: Sequence[str] | None = None) -> StoredDocuments:
    """Read the documents of some versions, or all."""
    import pyarrow as pa

    clauses = [None] if versions is None else batched_clauses("version", versions, BATCH)
    tables = [store.rows("documents", COLUMNS, clause) for clause in clauses]
    table = pa.concat_tables(tables).sort_by("path") if tables else None
    return make_documents(() if table is None else _rows(table))


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()


def _in_order(
    mapped: StoredDocuments, stays: NDArray[np.bool_], newer: StoredDocuments
) -> list[DocumentSegment]:
    """Return the segments of both, with rows by path; `stays` flags `mapped` ones that have one."""
    kept = np.flatnonzero(stays)
    kept_paths = SortedTexts([mapped.arena("path")], kept)
    before = [bisect_left(kept_paths, path) for path in newer.arena("path")]
    newer_before = np.searchsorted(before, np.arange(len(kept)), "right")
    rows = np.full(len(mapped), -1, np.int64)
    rows[kept] = np.arange(len(kept)) + newer_before
    newer_rows = np.array(before, np.int64) + np.arange(len(newer))
    return [DocumentSegment(mapped, rows), DocumentSegment(newer, newer_rows)]


def _as_array(column: Any) -> VersionArray:
    """Return a pyarrow column of texts of one length as an array, without a Python object each."""
    texts = column.combine_chunks()
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    sizes = np.diff(starts)
    if not len(sizes) or not sizes[0] or (sizes != sizes[0]).any():
        return np.array(texts.to_pylist() or [], dtype=np.bytes_)
    size, first = int(sizes[0]), int(starts[0])
    return np.frombuffer(data, f"S{size}", len(texts), first)
