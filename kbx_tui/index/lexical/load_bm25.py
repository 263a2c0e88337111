"""Loading of the BM25 index of a snapshot, and refreshing of the files of texts.

Documents newer than words.bin are read from their table.
"""

from __future__ import annotations

import numpy as np

from kbx_tui.index.columns.documents_by_path import documents_by_path
from kbx_tui.index.columns.load_documents import refresh_documents_file
from kbx_tui.index.columns.read_snapshot import refresh_entity_files
from kbx_tui.index.columns.versions import rows_of_versions, stored_versions
from kbx_tui.index.derived_files import BODIES, WORDS
from kbx_tui.index.entities.load_facts import refresh_facts_file
from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.bodies import BODY_COLUMNS, write_bodies
from kbx_tui.index.lexical.document_texts import TEXT_COLUMNS, texts, texts_of
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.index.lexical.words_file import write_words
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store


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
        added = make_postings(texts_of(store, newer, size), with_offsets=True)
        rows = rows_of_versions(added.versions, snapshot.versions)
        segments.append(PostingsSegment(added, rows))
    in_statistics = np.ones(size, np.bool_)
    in_statistics[snapshot.entity_pages.rows] = False
    return Bm25Index(segments, size, in_statistics=in_statistics)


def refresh_text_files(store: Store) -> None:
    """Bring the files of texts up to date where they are stale. Raises IndexFault."""
    versions = stored_versions(store)
    if not WORDS.is_current(store, versions):
        write_words(store, texts(documents_by_path(store, TEXT_COLUMNS)))
    if not BODIES.is_current(store, versions):
        with BODIES.writer(store) as file:
            write_bodies(file, versions, documents_by_path(store, BODY_COLUMNS))
    refresh_documents_file(store, versions)
    refresh_entity_files(store)
    refresh_facts_file(store)
