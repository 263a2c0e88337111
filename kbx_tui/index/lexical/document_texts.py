"""Reading of the texts of documents, as they are searched, from their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kbx_tui.index.columns.documents_by_path import documents_by_path, matching_documents
from kbx_tui.index.derived_files import is_few
from kbx_tui.index.rows import SEARCHED_COLUMNS, searched_text
from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import batched_clauses

BATCH = 500
"""Documents listed in one where clause."""
TEXT_COLUMNS = ["version", *SEARCHED_COLUMNS]


def texts_of(store: Store, versions: set[str], total: int) -> Iterator[tuple[str, str]]:
    """Yield version and text of the documents of these versions, of `total` documents."""
    if not is_few(len(versions), total):
        rows = documents_by_path(store, TEXT_COLUMNS)
        yield from texts(row for row in rows if row["version"] in versions)
        return
    for clause in batched_clauses("version", sorted(versions), BATCH):
        yield from texts(matching_documents(store, TEXT_COLUMNS, clause))


def texts(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield version and searched text of documents."""
    for row in rows:
        yield row["version"], searched_text(row)
