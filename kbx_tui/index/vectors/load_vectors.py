"""Loading of the vectors of a snapshot, and refreshing of vectors.bin.

The file is memory-mapped; vectors newer than it are read from the tables and merged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from kbx_tui.index.derived_files import is_few, rows_of_versions, vectors_file
from kbx_tui.index.snapshot import Snapshot, read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.coverage import count_profiles
from kbx_tui.index.vectors.merge_vectors import merge_documents, vectors_by_hash
from kbx_tui.index.vectors.stored_vectors import StoredVectors
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.index.vectors.vector_tables import profile_hashes, read_some_vectors, read_vectors


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
    if not is_few(len(missing), len(snapshot.versions)):
        return read_vectors(store, snapshot, dimension)
    hashes, stored_hashes = profile_hashes(store, snapshot), mapped.profile_hashes()
    vectors, new_entities = mapped.to_matrix(dimension), np.zeros((0, dimension), np.float32)
    new_hashes = sorted(set(hashes) - set(stored_hashes) - {""})
    if new_hashes or len(missing) or not np.array_equal(rows, np.arange(len(rows))):
        newer, new_hashes = read_some_vectors(
            store, snapshot, missing.tolist(), new_hashes, dimension
        )
        vectors = merge_documents(vectors, rows, newer)
        new_entities = newer.entities
    available = [*stored_hashes, *new_hashes]
    coverage = vectors.coverage + count_profiles(hashes, frozenset(available))
    if available == hashes:
        return replace(vectors, coverage=coverage)
    entities = np.concatenate((vectors.entities, new_entities))
    return replace(
        vectors, entities=vectors_by_hash(hashes, available, entities), coverage=coverage
    )


def refresh_vectors_file(store: Store, *, model: str, dimension: int) -> None:
    """Bring vectors.bin up to date if it is stale and every text has a vector."""
    if not store.is_local:
        return

    def make() -> StoredVectors | None:
        snapshot = read_snapshot(store)
        vectors = read_vectors(store, snapshot, dimension)
        if vectors.coverage.missing:
            return None
        return StoredVectors.of(vectors, snapshot, profile_hashes(store, snapshot))

    vectors_file(model, dimension).refresh(store, store.column("documents", "version"), make)
