"""Writing of vectors.bin: vectors go from the table to their places in the file.

The exact vectors and those of the titles are written through a mapping, in the order of the table;
then contexts and codes are computed from them, some documents at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kbx_tui.errors import IndexFault
from kbx_tui.index.array_files.array_writer import ArrayWriter
from kbx_tui.index.columns.released_memory import release_memory
from kbx_tui.index.columns.versions import places_of, version_array
from kbx_tui.index.derived_files import DerivedFile
from kbx_tui.index.snapshot import Rows, Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.chunk_layout import (
    CHUNK_COLUMNS,
    ChunkLayout,
    TableChanged,
    gather,
)
from kbx_tui.index.vectors.document_contexts import document_contexts, quantize_with_context
from kbx_tui.index.vectors.int8_codes import BLOCK, Matrix, quantize
from kbx_tui.index.vectors.stored_vectors import StoredVectors
from kbx_tui.index.vectors.vector_tables import check_dimension, coverage_of


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
