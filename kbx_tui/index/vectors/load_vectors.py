"""Loading of the vectors of a snapshot, and refreshing of vectors.bin.

The file is memory-mapped; what it lacks is read from the tables, into a segment of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from kbx_tui.errors import IndexFault
from kbx_tui.index.arrays import Ints, Matrix, Rows, Starts, Versions
from kbx_tui.index.derived_files import DocumentFile
from kbx_tui.index.snapshot import Snapshot, read_snapshot
from kbx_tui.index.store import Store, release_memory
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.stored_vectors import (
    Coverage,
    StoredVectors,
    TableChanged,
    find_vectors,
    read_vectors,
    vectors_file,
)
from kbx_tui.index.vectors.vector_lists import LISTS, VectorLists
from kbx_tui.index.vectors.vector_matrix import ProfileVectors, VectorMatrix, VectorSegment
from kbx_tui.index.versions import (
    are_among,
    have_same_versions,
    places_of,
    rows_of_versions,
    version_array,
)


def load_vectors(store: Store, snapshot: Snapshot, *, model: str, dimension: int) -> VectorMatrix:
    """Return a snapshot's vectors. Raises IndexForeign for another dimension, and IndexFault."""
    # BLAS threads wait for each other, which is far slower than one thread on a busy machine.
    threadpool_limits(limits=1, user_api="blas")
    profiles = snapshot.entities.stored.profiles
    found, missing = vectors_file(model, dimension).map_for(store, version_array(snapshot.versions))
    if not found:
        stored, coverage = read_vectors(store, snapshot, missing, profiles, dimension)
        coverage += Coverage(len(profiles), int(np.count_nonzero(stored.profiles == b"")))
        of_entities = ProfileVectors.of(stored.entities, stored.quantized_entities())
        return VectorMatrix((VectorSegment.of(stored, missing),), of_entities, coverage)
    mapped, newer = found[0][0], [stored for stored, _ in found[1:]]
    sources = None
    unknown = missing[:0]
    if not np.array_equal(profiles, mapped.profiles):
        sources = rows_of_profiles(profiles, mapped.profiles)
        unknown = np.flatnonzero(sources < 0)
    lacking = 0
    wanted = _without_vector(profiles[unknown], newer)
    if len(missing) or len(wanted):
        stored, coverage = read_vectors(store, snapshot, missing, wanted, dimension)
        found.append((stored, missing))
        newer.append(stored)
        lacking = coverage.missing
    segments = [VectorSegment.of(stored, rows) for stored, rows in found]
    chunks = sum(int(segment.chunk_counts().sum()) for segment in segments)
    places, vectors = _newer_profiles(profiles[unknown], newer, dimension)
    coverage = Coverage(chunks + lacking, lacking)
    coverage += Coverage(len(profiles), len(unknown) - len(places))
    of_entities = ProfileVectors(
        mapped.entities, mapped.quantized_entities(), sources, vectors, unknown[places]
    )
    return VectorMatrix(
        (segments[0], *(each for each in segments[1:] if len(each.documents))),
        of_entities,
        coverage,
        _load_lists(store, mapped),
    )


def rows_of_profiles(profiles: Versions, stored: Versions) -> Rows:
    """Return the row of each profile, which several entities may have, among stored ones."""
    rows = rows_of_versions(profiles, stored)
    unknown = np.flatnonzero(rows < 0)
    wanted = np.unique(profiles[unknown])
    if len(wanted):
        places = np.minimum(wanted.searchsorted(stored), len(wanted) - 1)
        found = np.flatnonzero(wanted[places] == stored)
        row_of = dict(zip(stored[found].tolist(), found.tolist(), strict=True))
        rows[unknown] = [row_of.get(profile, -1) for profile in profiles[unknown].tolist()]
    return rows


def _without_vector(profiles: Versions, newer: Sequence[StoredVectors]) -> Versions:
    """Return the different ones of these hashes that none of `newer` has a vector for."""
    known = {b"", *(profile for stored in newer for profile in stored.profiles.tolist())}
    wanted = sorted(set(profiles.tolist()) - known)
    return np.array(wanted or [], profiles.dtype)


def _newer_profiles(
    profiles: Versions, newer: Sequence[StoredVectors], dimension: int
) -> tuple[Rows, Matrix]:
    vector_of = {
        profile: stored.entities[row]
        for stored in newer
        for row, profile in enumerate(stored.profiles.tolist())
        if profile
    }
    places = [place for place, each in enumerate(profiles.tolist()) if each in vector_of]
    vectors = [vector_of[each] for each in profiles[places].tolist()]
    matrix = np.array(vectors, np.float32).reshape(-1, dimension)
    return np.array(places, np.int64), matrix


def _load_lists(store: Store, stored: StoredVectors) -> VectorLists | None:
    if len(stored.chunks) <= vector_lists.EXACT_CHUNKS:
        return None
    lists = LISTS.map(store)
    return lists if lists is not None and lists.belong_to(stored.code_scales) else None


def refresh_vectors_file(store: Store, *, model: str, dimension: int) -> None:
    """Bring vectors.bin, or the file of what it lacks, up to date if every text has a vector."""
    file, snapshot = vectors_file(model, dimension), read_snapshot(store)
    current, profiles = version_array(snapshot.versions), snapshot.entities.stored.profiles
    if not file.is_current(store, current):
        _write(store, snapshot, file, np.arange(len(current)), profiles, dimension)
    if (mapped := file.map(store)) is None:
        return
    missing = np.flatnonzero(~are_among(current, mapped.versions))
    wanted, newer = _without_vector(profiles, [mapped]), file.of_newer.map(store)
    if not len(missing) and not len(wanted):
        file.of_newer.remove(store)
    elif newer is None or not (
        have_same_versions(newer.versions, current[missing])
        and have_same_versions(newer.profiles, wanted)
    ):
        _write(store, snapshot, file.of_newer, missing, wanted, dimension)


def _write(
    store: Store,
    snapshot: Snapshot,
    file: DocumentFile[StoredVectors],
    rows: Rows,
    profiles: Versions,
    dimension: int,
) -> None:
    layout = find_vectors(store, snapshot, rows, profiles, dimension)
    release_memory()
    if not layout.is_complete:
        return
    with file.writer(store) as writer:
        try:
            layout.read(writer.map)
        except TableChanged:
            raise IndexFault(f"the vectors at {store.uri} keep changing; try again later") from None


LineRange = tuple[int, int]
"""First and last line of a chunk in its file, 1-based."""


@dataclass(frozen=True, slots=True)
class ChunkLines:
    lines: Ints
    """First and last line of each chunk, by document and position in it, shape (m, 2)."""
    ends: Starts
    """Where each document ends in `lines`, shape (documents,)."""

    def of(self, row: int) -> Sequence[LineRange]:
        start = int(self.ends[row - 1]) if row else 0
        return [(first, last) for first, last in self.lines[start : self.ends[row]].tolist()]


def read_chunk_lines(store: Store, snapshot: Snapshot) -> ChunkLines:
    """Read the lines of all chunks, none of content that is newer than `snapshot`."""
    current, meta = version_array(snapshot.versions), store.meta()
    file = vectors_file(str(meta.get("model", "")), int(meta.get("dimension", 0)))
    found, missing = file.map_for(store, current)
    documents: Rows
    lines: Ints
    if found and not len(missing):
        lines = np.concatenate([stored.lines for stored, _ in found])
        documents = np.concatenate(
            [
                np.repeat(rows[stored.document_rows], np.diff(stored.starts))
                for stored, rows in found
            ]
        )
        order = np.argsort(documents, kind="stable")
    else:
        chunks = store.rows("chunks", ["version", "ordinal", "line_start", "line_end"])
        documents = places_of(chunks["version"], current)
        lines = np.stack([chunks[name].to_numpy() for name in ("line_start", "line_end")], axis=1)
        order = np.lexsort((chunks["ordinal"].to_numpy(), documents))
        del chunks
        release_memory()
    order = order[np.count_nonzero(documents < 0) :]
    counts = np.bincount(documents[order], minlength=len(current))
    return ChunkLines(lines[order], np.cumsum(counts))
