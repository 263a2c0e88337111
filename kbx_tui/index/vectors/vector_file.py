"""The vectors of a generation beside the index, in the order a search reads them: a cache.

Mapped into memory: neither copied nor looked up one by one when an index is opened, and shared by
all who read it. Documents are known by their versions and profiles by their hashes, as in the
tables; what changed since is read from there and merged. Missing, damaged, stale or of another
model, the file costs time, not results. A remote index has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kbx_tui.index.lexical.text_cache import VECTORS, folder_of, is_few, is_stale, rows_of
from kbx_tui.index.mmap_arrays import read_arrays, write_arrays
from kbx_tui.index.snapshot import Keys, Snapshot, read_snapshot
from kbx_tui.index.store import Store, translated
from kbx_tui.index.vectors.int8_codes import QuantizedVectors
from kbx_tui.index.vectors.vector_matrix import Matrix, Vectors
from kbx_tui.index.vectors.vector_tables import profile_hashes, read_some_vectors, read_vectors

FORMAT = "kbx vectors 2"
"""Another way to split documents, to weigh what is embedded, or another layout raises it."""


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """What the file holds. Read-only; vectors of one model, flat, `dimension` numbers each."""

    names: NDArray[np.bytes_]
    """Versions of all documents, also of those without a chunk."""
    document_rows: Keys
    """Places in `names`; from here on as in `Vectors`, if these were the rows of the documents."""
    starts: Keys
    lines: NDArray[np.int32]
    chunks: NDArray[np.float32]
    contexts: NDArray[np.float32]
    chunk_shares: NDArray[np.float32]
    codes: NDArray[np.int8]
    code_scales: NDArray[np.float32]
    code_errors: NDArray[np.float32]
    profiles: NDArray[np.bytes_]
    """Hash of the profile of each entity."""
    entities: NDArray[np.float32]


def open_vectors(store: Store, snapshot: Snapshot, *, model: str, dimension: int) -> Vectors:
    """Return the vectors of the documents and entities of `snapshot`.

    `model` is the one the index was made with. Raises IndexForeign for vectors of another length,
    IndexFault when they cannot be read.
    """
    # Two BLAS threads on two busy cores turn 1 ms into 8; one is as fast on a quiet machine.
    threadpool_limits(limits=1, user_api="blas")
    kept = _read(store, model, dimension)
    if kept is None:
        return read_vectors(store, snapshot, dimension)
    rows = rows_of(kept.names, snapshot.versions)
    missing = np.setdiff1d(np.arange(len(snapshot.versions)), rows)
    if not is_few(len(missing), len(snapshot.versions)):
        return read_vectors(store, snapshot, dimension)
    hashes = profile_hashes(store, snapshot)
    new = sorted({*hashes, ""} - {name.decode() for name in kept.profiles.tolist()} - {""})
    found, added = _as_they_stand(kept, dimension), np.zeros((0, dimension), np.float32)
    if new or len(missing) or not np.array_equal(rows, np.arange(len(kept.names))):
        beside, new, split = read_some_vectors(store, snapshot, missing.tolist(), new, dimension)
        found, added = _merged(found, rows, beside, split), beside.entities
    known = [*(name.decode() for name in kept.profiles.tolist()), *new]
    if known == hashes:
        return found
    return replace(found, entities=_by_hash(hashes, known, np.concatenate((found.entities, added))))


def write_vector_file(store: Store, *, model: str, dimension: int) -> None:
    """Bring the file up to date, unless few documents changed, or vectors are missing still."""
    if not store.is_local:
        return
    kept = _read(store, model, dimension)
    versions = store.rows("documents", ["version"])["version"].to_pylist()
    if not is_stale(None if kept is None else kept.names, versions):
        return
    snapshot = read_snapshot(store)
    found = read_vectors(store, snapshot, dimension)
    if found.share < 1.0:
        return
    profiles = np.array(profile_hashes(store, snapshot) or [], dtype=np.bytes_)
    made = KeptVectors(
        names=np.array(snapshot.versions, dtype=np.bytes_),
        document_rows=found.document_rows,
        starts=found.starts,
        lines=found.lines,
        chunks=found.chunks.reshape(-1),
        contexts=found.contexts.reshape(-1),
        chunk_shares=found.chunk_shares,
        codes=found.quantized.codes.reshape(-1),
        code_scales=found.quantized.scales,
        code_errors=found.quantized.errors,
        profiles=np.where(found.entities.any(axis=1), profiles, b""),
        entities=found.entities.reshape(-1),
    )
    arrays = {field.name: getattr(made, field.name) for field in fields(KeptVectors)}
    with translated("write the vectors", store.uri):
        write_arrays(folder_of(store) / VECTORS, _kind(model, dimension), arrays)


def _read(store: Store, model: str, dimension: int) -> KeptVectors | None:
    if not store.is_local:
        return None
    arrays = read_arrays(folder_of(store) / VECTORS, _kind(model, dimension))
    if arrays is None or arrays.keys() != {field.name for field in fields(KeptVectors)}:
        return None
    return KeptVectors(**arrays)


def _kind(model: str, dimension: int) -> str:
    return f"{FORMAT}, {dimension} numbers each, {' '.join(model.split())}"


def _as_they_stand(kept: KeptVectors, dimension: int) -> Vectors:
    return Vectors(
        chunks=kept.chunks.reshape(-1, dimension),
        lines=kept.lines,
        document_rows=kept.document_rows,
        starts=kept.starts,
        contexts=kept.contexts.reshape(-1, dimension),
        chunk_shares=kept.chunk_shares,
        quantized=QuantizedVectors(
            kept.codes.reshape(-1, dimension), kept.code_scales, kept.code_errors
        ),
        entities=kept.entities.reshape(-1, dimension),
        share=1.0 if len(kept.lines) else 0.0,
    )


def _merged(kept: Vectors, rows: Keys, added: Vectors, split: int) -> Vectors:
    """Return the documents of both by row; `rows` tells the new row of each kept one, -1 for none.

    `split` is the number of chunks that `added` would have if all had vectors.
    """
    row_of = np.concatenate((rows[kept.document_rows], added.document_rows))
    order = np.argsort(row_of, kind="stable")
    order = order[row_of[order] >= 0]
    sizes = np.concatenate([np.diff(one.starts, append=len(one.chunks)) for one in (kept, added)])[
        order
    ]
    ends = np.cumsum(sizes)
    total, dimension = int(sizes.sum()), kept.chunks.shape[1]
    chunks = total - len(added.chunks) + split
    made = Vectors(
        chunks=np.empty((total, dimension), np.float32),
        lines=np.empty(total, np.int32),
        document_rows=row_of[order],
        starts=ends - sizes,
        contexts=np.empty((len(order), dimension), np.float32),
        chunk_shares=np.empty(len(order), np.float32),
        quantized=QuantizedVectors.empty(total, dimension),
        entities=kept.entities,
        share=total / chunks if chunks else 0.0,
    )
    border = len(kept.document_rows)
    for first, last in _runs(order, border):
        source, at = (
            (kept, order[first]) if order[first] < border else (added, order[first] - border)
        )
        to, size = slice(made.starts[first], ends[last - 1]), ends[last - 1] - made.starts[first]
        taken, part = (
            slice(source.starts[at], source.starts[at] + size),
            slice(at, at + last - first),
        )
        made.chunks[to], made.lines[to] = source.chunks[taken], source.lines[taken]
        made.quantized.copy(to.start, source.quantized.part(taken.start, taken.stop))
        made.contexts[first:last] = source.contexts[part]
        made.chunk_shares[first:last] = source.chunk_shares[part]
    return made


def _runs(order: Keys, border: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of stretches that follow one another in the same source as here."""
    if not len(order):
        return
    apart = (np.diff(order) != 1) | ((order[1:] >= border) != (order[:-1] >= border))
    yield from pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), len(order)])


def _by_hash(wanted: Sequence[str], known: Sequence[str], vectors: Matrix) -> Matrix:
    """Return the vectors of the wanted hashes, zeros for one that is not known."""
    place = {text: at for at, text in enumerate(known) if text}
    made = np.zeros((len(wanted), vectors.shape[1]), np.float32)
    for row, text in enumerate(wanted):
        if text in place:
            made[row] = vectors[place[text]]
    return made
