"""Loading of the vectors of a snapshot, and refreshing of vectors.bin.

The file is memory-mapped; vectors newer than it are read from the tables, into a segment of their
own.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from kbx_tui.index.columns.read_snapshot import read_snapshot
from kbx_tui.index.columns.versions import places_of, rows_of_versions, stored_versions
from kbx_tui.index.derived_files import LISTS, vectors_file
from kbx_tui.index.inverted_file import vector_lists
from kbx_tui.index.inverted_file.vector_lists import VectorLists
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.coverage import Coverage
from kbx_tui.index.vectors.profile_vectors import NO_ROWS, ProfileVectors, sources_of
from kbx_tui.index.vectors.stored_vectors import StoredVectors
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.index.vectors.vector_tables import read_some_vectors, read_vectors
from kbx_tui.index.vectors.write_vectors_file import write_vectors_file


def load_vectors(store: Store, snapshot: Snapshot, *, model: str, dimension: int) -> VectorMatrix:
    """Return the vectors of the documents and entities of `snapshot`.

    `model` is the one the index was made with. Raises IndexForeign for vectors of another
    dimension, IndexFault when they cannot be read.
    """
    # BLAS threads wait for each other, which is far slower than one thread on a busy machine.
    threadpool_limits(limits=1, user_api="blas")
    mapped = vectors_file(model, dimension).map(store)
    if mapped is None:
        return read_vectors(store, snapshot, dimension)
    rows = rows_of_versions(mapped.versions, snapshot.versions)
    missing = np.setdiff1d(np.arange(len(snapshot.versions)), rows)
    segments, lists = [mapped.to_segment(dimension).renumbered(rows)], _load_lists(store, mapped)
    coverage = Coverage(int(segments[0].chunk_counts().sum()), 0)
    vectors, codes = mapped.entities.reshape(-1, dimension), mapped.profile_codes(dimension)
    profiles = snapshot.entities.stored.profiles
    sources = sources_of(profiles, mapped.profiles)
    if sources is None and not len(missing):
        coverage += Coverage(len(profiles), 0)
        return VectorMatrix(tuple(segments), ProfileVectors.of(vectors, codes), coverage, lists)
    without = np.flatnonzero(sources < 0) if sources is not None else NO_ROWS
    wanted = np.setdiff1d(profiles[without], [b""])
    newer, found = read_some_vectors(store, snapshot, missing, wanted, dimension)
    segments += (segment for segment in newer.segments if len(segment.documents))
    places = places_of(profiles[without], found)
    added = newer.profiles.vectors[places[places >= 0]]
    of_entities = ProfileVectors(vectors, codes, sources, added, without[places >= 0])
    coverage += newer.coverage + Coverage(len(profiles), int(np.count_nonzero(places < 0)))
    return VectorMatrix(tuple(segments), of_entities, coverage, lists)


def _load_lists(store: Store, stored: StoredVectors) -> VectorLists | None:
    """Return the inverted file of these vectors; None where it is not needed or not there."""
    if len(stored.code_scales) <= vector_lists.EXACT_CHUNKS:
        return None
    lists = LISTS.map(store)
    return lists if lists is not None and lists.belong_to(stored.code_scales) else None


def refresh_vectors_file(store: Store, *, model: str, dimension: int) -> None:
    """Bring vectors.bin up to date if it is stale and every text has a vector.

    Raises IndexFault.
    """
    file = vectors_file(model, dimension)
    if not file.is_current(store, stored_versions(store)):
        write_vectors_file(store, read_snapshot(store), file, dimension)
