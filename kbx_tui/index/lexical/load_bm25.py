"""Loading of the BM25 index of a snapshot, and refreshing of words.bin and bodies.bin.

Documents newer than words.bin are read from their table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kbx_tui.index.derived_files import BODIES, WORDS, is_few, rows_of_versions
from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.bodies import make_bodies
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import batched_clauses

BATCH = 500
"""Documents read or listed at once."""


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
    newer = {snapshot.versions[row] for row in np.flatnonzero(~covered)}
    if newer:
        added = make_postings(_texts_of(store, newer, size))
        rows = rows_of_versions(added.versions, snapshot.versions)
        segments.append(PostingsSegment(added, rows))
    in_statistics = np.ones(size, np.bool_)
    pages = (snapshot.row_of.get(entity.path) for entity in snapshot.entities)
    in_statistics[[row for row in pages if row is not None]] = False
    return Bm25Index(segments, size, in_statistics=in_statistics)


def refresh_text_files(store: Store) -> None:
    """Bring words.bin and bodies.bin up to date where they are stale. Raises IndexFault."""
    if not store.is_local:
        return
    versions = store.column("documents", "version")
    WORDS.refresh(store, versions, lambda: make_postings(_documents(store, "version", "text")))
    columns = ("version", "body", "body_line")
    BODIES.refresh(store, versions, lambda: make_bodies(_documents(store, *columns)))


def _texts_of(store: Store, versions: set[str], total: int) -> Iterator[tuple[str, str]]:
    """Yield version and text of the documents of these versions, of `total` documents."""
    if not is_few(len(versions), total):
        texts = _documents(store, "version", "text")
        yield from ((version, text) for version, text in texts if version in versions)
        return
    for clause in batched_clauses("version", sorted(versions), BATCH):
        yield from store.mapping("documents", "version", "text", clause).items()


def _documents(store: Store, *columns: str) -> Iterator[Any]:
    """Yield a tuple of the given columns of each document, ordered by path."""
    table = store.rows("documents", ["path", *columns]).sort_by("path")
    for batch in table.to_batches(BATCH):
        yield from zip(*(batch[column].to_pylist() for column in columns), strict=True)
