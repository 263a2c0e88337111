"""Loading of the documents of the newest generation, and refreshing of documents.bin.

Documents newer than the file are read from their table, into a segment of their own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.documents_by_path import documents_by_path, matching_documents
from kbx_tui.index.columns.stored_documents import (
    COLUMNS,
    DocumentSegment,
    StoredDocuments,
    make_documents,
)
from kbx_tui.index.columns.text_column import SortedTexts
from kbx_tui.index.columns.versions import (
    VersionArray,
    are_among,
    have_same_versions,
    stored_versions,
)
from kbx_tui.index.derived_files import DOCUMENTS, is_few
from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import batched_clauses

BATCH = 500
"""Documents listed in one where clause."""


def load_documents(store: Store, *, is_current: bool = False) -> list[DocumentSegment]:
    """Return the documents of the newest generation, their rows by path. Raises IndexFault.

    With `is_current`, documents.bin is known to have all of them and no others.
    """
    if (mapped := DOCUMENTS.map(store)) is not None:
        if is_current:
            return [DocumentSegment.of(mapped)]
        current = stored_versions(store)
        if have_same_versions(current, mapped.versions):
            return [DocumentSegment.of(mapped)]
        is_newer = ~are_among(current, mapped.versions)
        if is_few(int(np.count_nonzero(is_newer)), len(current)):
            newer = _read(store, [version.decode() for version in current[is_newer].tolist()])
            if len(newer) == np.count_nonzero(is_newer):  # else they changed again meanwhile
                return _in_order(mapped, are_among(mapped.versions, current), newer)
    return [DocumentSegment.of(_read_all(store))]


def refresh_documents_file(store: Store, versions: VersionArray) -> None:
    """Bring documents.bin up to date where it is stale. Raises IndexFault.

    `versions` are those in table documents.
    """
    if not DOCUMENTS.is_current(store, versions):
        DOCUMENTS.write(store, _read_all(store))


def _read_all(store: Store) -> StoredDocuments:
    return make_documents(documents_by_path(store, COLUMNS))


def _read(store: Store, versions: Sequence[str]) -> StoredDocuments:
    """Read the documents of some versions."""
    clauses = batched_clauses("version", versions, BATCH)
    rows = [row for clause in clauses for row in matching_documents(store, COLUMNS, clause)]
    return make_documents(sorted(rows, key=lambda row: row["path"].encode()))


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
