"""Loading of the BM25 index of a snapshot, and refreshing of the files of texts.

Documents newer than words.bin are read from their table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from kbx_tui.index.columns.documents_by_path import documents_by_path, matching_documents
from kbx_tui.index.columns.load_documents import refresh_documents_file
from kbx_tui.index.columns.read_snapshot import refresh_entity_files
from kbx_tui.index.columns.versions import rows_of_versions, stored_versions
from kbx_tui.index.derived_files import BODIES, WORDS, is_few
from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.bodies import BODY_COLUMNS, write_bodies
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.index.lexical.words_file import write_words
from kbx_tui.index.rows import SEARCHED_COLUMNS, searched_text
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import batched_clauses

BATCH = 500
"""Documents listed in one where clause."""
TEXT_COLUMNS = ["version", *SEARCHED_COLUMNS]


def load_bm25(store: Store, snapshot: Snapshot) -> Bm25Index:
    """Return the BM25 index of the documents of `snapshot`, by row. Raises IndexFault.

    Entity pages can be found but do not count in the statistics: they are short and made of names,
    and many of them would distort how rare a word is. Chosen by the experiment "entity pages in
    BM25 statistics" in docs/quality.md.
    """
    size = len(snapshot.versions)
    segments, covered = [], np.zeros(size, np.bool_)
    if (mapped := WORDS.map(store)) is not None:
        rows = rows_of_versions(mapped.versions, snapshot.versions)
        segments.append(PostingsSegment(mapped, rows))
        covered[rows[rows >= 0]] = True
    newer = {snapshot.versions[row] for row in np.flatnonzero(~covered).tolist()}
    if newer:
        added = make_postings(_texts_of(store, newer, size), with_offsets=True)
        rows = rows_of_versions(added.versions, snapshot.versions)
        segments.append(PostingsSegment(added, rows))
    in_statistics = np.ones(size, np.bool_)
    in_statistics[snapshot.entity_pages.rows] = False
    return Bm25Index(segments, size, in_statistics=in_statistics)


def refresh_text_files(store: Store) -> None:
    """Bring the files of texts up to date where they are stale. Raises IndexFault."""
    versions = stored_versions(store)
    if not WORDS.is_current(store, versions):
        write_words(store, _texts(documents_by_path(store, TEXT_COLUMNS)))
    if not BODIES.is_current(store, versions):
        with BODIES.writer(store) as file:
            write_bodies(file, versions, documents_by_path(store, BODY_COLUMNS))
    refresh_documents_file(store, versions)
    refresh_entity_files(store)


def _texts_of(store: Store, versions: set[str], total: int) -> Iterator[tuple[str, str]]:
    """Yield version and text of the documents of these versions, of `total` documents."""
    if not is_few(len(versions), total):
        rows = documents_by_path(store, TEXT_COLUMNS)
        yield from _texts(row for row in rows if row["version"] in versions)
        return
    for clause in batched_clauses("version", sorted(versions), BATCH):
        yield from _texts(matching_documents(store, TEXT_COLUMNS, clause))


def _texts(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield version and searched text of documents."""
    for row in rows:
        yield row["version"], searched_text(row)
