"""Loading of the vectors of a snapshot, and refreshing of vectors.bin.

The file is memory-mapped; vectors newer than it are read from the tables, into a segment of their
own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from kbx_tui.errors import IndexFault
from kbx_tui.index.array_file import ArrayWriter
from kbx_tui.index.derived_files import LISTS, DerivedFile, vectors_file
from kbx_tui.index.load_snapshot import read_snapshot
from kbx_tui.index.snapshot import Rows, Snapshot
from kbx_tui.index.store import Store, release_memory
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.int8_codes import BLOCK, Matrix, quantize
from kbx_tui.index.vectors.vector_lists import VectorLists
from kbx_tui.index.vectors.vector_matrix import (
    NO_ROWS,
    Coverage,
    ProfileVectors,
    VectorMatrix,
    sources_of,
)
from kbx_tui.index.vectors.vector_segment import StoredVectors
from kbx_tui.index.vectors.vector_tables import (
    CHUNK_COLUMNS,
    ChunkLayout,
    TableChanged,
    check_dimension,
    coverage_of,
    document_contexts,
    gather,
    quantize_with_context,
    read_some_vectors,
    read_vectors,
)
from kbx_tui.index.versions import places_of, rows_of_versions, stored_versions, version_array


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
    is_mapped = np.zeros(len(snapshot.versions), np.bool_)
    is_mapped[rows[rows >= 0]] = True
    missing = np.flatnonzero(~is_mapped)
    segments, lists = [mapped.to_segment(dimension).renumbered(rows)], _load_lists(store, mapped)
    coverage = Coverage(int(segments[0].chunk_counts().sum()), 0)
    vectors, codes = mapped.entities.reshape(-1, dimension), mapped.profile_codes(dimension)
    profiles = snapshot.entities.stored.profiles
    sources = sources_of(profiles, mapped.profiles)
    if sources is None and not len(missing):
        coverage += Coverage(len(profiles), 0)
        return VectorMatrix(tuple(segments), ProfileVectors.of(vectors, codes), coverage, lists)
    without = np.flatnonzero(sources < 0) if sources is not None else NO_ROWS
    wanted = profiles[without]
    wanted = np.unique(wanted[wanted != b""])
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


def write_vectors_file(
    store: Store, snapshot: Snapshot, kind: DerivedFile[StoredVectors], dimension: int
) -> None:
    """Write vectors.bin, unless a text of `snapshot` has no vector.

    Raises IndexForeign for vectors of another dimension, and IndexFault.
    """
    check_dimension(store, dimension)
    hashes = store.rows("vectors", ["text_hash"])["text_hash"]
    rows = np.arange(len(snapshot.versions))
    layout = ChunkLayout.of(store.rows("chunks", CHUNK_COLUMNS), snapshot, rows, hashes)
    profiles = snapshot.entities.stored.profiles
    of_profiles = places_of(profiles, hashes)
    release_memory()
    if coverage_of(store, snapshot, layout, of_profiles).missing:
        return
    with kind.writer(store) as file:
        file.add("versions", version_array(snapshot.versions))
        file.add("document_rows", layout.document_rows)
        file.add("starts", layout.starts)
        file.add("lines", layout.lines)
        chunks = _mapped(file, "chunks", len(layout.vectors), dimension)
        contexts = _mapped(file, "contexts", len(layout.titles), dimension)
        write_contexts = _context_writer(file, layout, dimension)
        stored_profiles = file.begin("profiles", profiles.dtype, len(profiles))
        entities = _mapped(file, "entities", len(profiles), dimension)
        write_codes = _entity_code_writer(file, len(profiles), dimension)
        wanted = (layout.vectors, layout.titles, of_profiles)
        try:
            gather(store, hashes, wanted, (chunks, contexts, entities))  # of titles, at first
        except TableChanged:
            raise IndexFault(f"the vectors at {store.uri} keep changing; try again later") from None
        stored_profiles.append(np.where(entities.any(axis=1), profiles, b""))
        write_contexts(chunks, contexts)
        write_codes(entities)


def _mapped(file: ArrayWriter, name: str, count: int, dimension: int) -> Matrix:
    return file.map(name, np.float32, count * dimension).reshape(count, dimension)


def _context_writer(
    file: ArrayWriter, layout: ChunkLayout, dimension: int
) -> Callable[[Matrix, Matrix], None]:
    """Begin the arrays made from vectors, and return what writes them.

    It is given the vectors of all chunks, and those of the titles, which become contexts.
    """
    count = len(layout.vectors)
    weights = file.begin("chunk_weights", np.float32, len(layout.titles))
    codes = file.begin("codes", np.int8, count * dimension)
    scales = file.begin("code_scales", np.float32, count)
    errors = file.begin("code_errors", np.float32, count)

    def write(chunks: Matrix, titles: Matrix) -> None:
        for documents, of_chunks in _blocks(layout.starts, count):
            vectors = chunks[of_chunks]
            starts = layout.starts[documents] - of_chunks.start
            contexts, chunk_weights = document_contexts(vectors, starts, titles[documents])
            quantized = quantize_with_context(vectors, starts, contexts, chunk_weights)
            titles[documents] = contexts
            weights.append(chunk_weights)
            codes.append(quantized.codes)
            scales.append(quantized.scales)
            errors.append(quantized.errors)

    return write


def _entity_code_writer(file: ArrayWriter, count: int, dimension: int) -> Callable[[Matrix], None]:
    """Begin the arrays of the codes of profiles, and return what writes them."""
    codes = file.begin("entity_codes", np.int8, count * dimension)
    scales = file.begin("entity_scales", np.float32, count)
    errors = file.begin("entity_errors", np.float32, count)

    def write(entities: Matrix) -> None:
        for begin in range(0, count, BLOCK):
            quantized = quantize(entities[begin : begin + BLOCK])
            codes.append(quantized.codes)
            scales.append(quantized.scales)
            errors.append(quantized.errors)

    return write


def _blocks(starts: Rows, chunks: int) -> Iterator[tuple[slice, slice]]:
    """Yield some documents at a time, and their chunks: about `BLOCK`."""
    first = 0
    while first < len(starts):
        end = max(int(starts.searchsorted(starts[first] + BLOCK)), first + 1)
        last = int(starts[end]) if end < len(starts) else chunks
        yield slice(first, end), slice(int(starts[first]), last)
        first = end
