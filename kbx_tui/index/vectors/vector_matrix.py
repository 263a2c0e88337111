"""All vectors of one generation: exact cosines under any filter, no approximate index.

An approximate index loses rows under a selective path filter. Where only the best documents are
wanted, int8 codes first narrow down which could be among them (`index/vectors/stored_vectors.py`).

vectors.bin is memory-mapped; what it lacks is read from the tables, into a segment of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from threadpoolctl import threadpool_limits

from kbx_tui.errors import IndexFault
from kbx_tui.index.arrays import Flags, Ints, Matrix, Rows, Scores, Starts, Vector, Versions
from kbx_tui.index.derived_files import DocumentFile
from kbx_tui.index.snapshot import Snapshot, read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.stored_vectors import (
    Coverage,
    QuantizedVectors,
    StoredVectors,
    TableChanged,
    find_vectors,
    nearest,
    products,
    products_of,
    read_vectors,
    vectors_file,
)
from kbx_tui.index.vectors.vector_lists import LISTS, VectorLists
from kbx_tui.index.versions import are_among, have_same_versions, places_of, rows_of_versions
from kbx_tui.system import release_memory

SPARSE_SHARE = 1 / 8
"""Share of the documents between the first and the last in scope below which the codes of those in
scope are copied together, instead of comparing all in between."""


@dataclass(frozen=True, slots=True)
class VectorSegment:
    """Chunk vectors by document. Documents that are not part of the generation are passed over.

    So one changed document leaves the arrays of all others as they are: mapped.
    """

    stored: StoredVectors
    quantized: QuantizedVectors
    documents: Rows
    document_rows: Rows

    @classmethod
    def of(cls, stored: StoredVectors, rows: Rows) -> Self:
        """Return the segment of stored vectors in a generation.

        `rows` has the row of each stored document, -1 for one that is not part of the generation;
        the other rows ascend.
        """
        document_rows = rows[stored.document_rows]
        is_here = document_rows >= 0
        return cls(stored, stored.quantized(), np.flatnonzero(is_here), document_rows[is_here])

    def chunk_counts(self) -> Rows:
        """Return the number of chunks of each of `documents`."""
        counts: Rows = np.diff(self.stored.starts)[self.documents]
        return counts

    def put_best_cosine(self, queries: Matrix, in_scope: Flags, cosines: Scores) -> None:
        """Put the weighted cosines of documents in scope into `cosines`, shape (q, rows)."""
        is_wanted = in_scope[self.document_rows]
        documents = self.documents[is_wanted]
        if len(documents):
            stored, starts = self.stored, self.stored.starts
            wanted = np.zeros(len(stored.contexts), np.bool_)
            wanted[documents] = True
            of_chunks = products(stored.chunks, queries, np.repeat(wanted, np.diff(starts)))
            best = np.maximum.reduceat(of_chunks, starts[:-1], axis=1) * stored.chunk_weights
            best += products(stored.contexts, queries, wanted)
            cosines[:, self.document_rows[is_wanted]] = best[:, documents]

    def approximate_cosine(self, query: Vector, rows: Rows) -> tuple[Scores, float]:
        """Return the approximate cosine of documents by ascending row, NaN without vectors.

        With it comes how far any can be from the exact value.
        """
        low, high = (int(rows[0]), int(rows[-1])) if len(rows) else (0, -1)
        first, end = np.searchsorted(self.document_rows, (low, high + 1)).tolist()
        if first >= end:
            return np.full(len(rows), np.nan), 0.0
        if len(rows) < SPARSE_SHARE * (end - first):
            return self._approximate_cosine_of(query, rows)
        documents = self.documents[first:end]
        bounds = self.stored.starts[documents[0] : documents[-1] + 2]
        of_chunks, error_bound = self.quantized.products(query, int(bounds[0]), int(bounds[-1]))
        best = np.maximum.reduceat(of_chunks, bounds[:-1] - bounds[0])
        if len(documents) < len(best):
            best = best[documents - documents[0]]
        if len(rows) == len(best) == high + 1 - low:  # all documents, as in most searches
            return best.astype(np.float64), error_bound
        cosines = np.full(high + 1 - low, np.nan)
        cosines[self.document_rows[first:end] - low] = best
        return cosines[rows - low], error_bound

    def put_best_cosine_of(self, query: Vector, rows: Rows, cosines: Scores) -> None:
        """Put the same as `put_best_cosine`, bit for bit, for a few documents given by row.

        `cosines` has the shape of `rows`.
        """
        is_here, documents = self._find(rows)
        if not len(is_here):
            return
        chunks, starts = self._chunks_of_documents(documents)
        stored = self.stored
        best = np.maximum.reduceat(products_of(stored.chunks, chunks, query), starts)
        context_products = products_of(stored.contexts, documents, query)
        cosines[is_here] = best * stored.chunk_weights[documents] + context_products

    def documents_in(self, in_scope: Flags) -> Flags | None:
        """Return which documents, in the order of `starts`, are in scope; None: all."""
        if len(self.documents) == len(self.stored.contexts) and in_scope.all():
            return None
        wanted = np.zeros(len(self.stored.contexts), np.bool_)
        wanted[self.documents[in_scope[self.document_rows]]] = True
        return wanted

    def chunks_of(self, document_row: int) -> slice | None:
        place = int(self.document_rows.searchsorted(document_row))
        if place >= len(self.document_rows) or self.document_rows[place] != document_row:
            return None
        document = int(self.documents[place])
        return slice(*self.stored.starts[document : document + 2].tolist())

    def chunk_cosines(self, query: Vector, within: Flags) -> tuple[Rows, Rows, Matrix]:
        """Return chunks, their document rows and their cosines, of documents `within`."""
        is_within = within[self.document_rows]
        wanted = np.full(len(self.stored.contexts), -1, np.int64)
        wanted[self.documents[is_within]] = self.document_rows[is_within]
        rows = np.repeat(wanted, np.diff(self.stored.starts))
        chunks = np.flatnonzero(rows >= 0)
        cosines = products(self.stored.chunks, query[None], rows >= 0)[0, chunks]
        return chunks, rows[chunks], cosines

    def _approximate_cosine_of(self, query: Vector, rows: Rows) -> tuple[Scores, float]:
        cosines = np.full(len(rows), np.nan)
        is_here, documents = self._find(rows)
        if not len(is_here):
            return cosines, 0.0
        chunks, starts = self._chunks_of_documents(documents)
        of_chunks, error_bound = self.quantized.part(chunks).products(query)
        cosines[is_here] = np.maximum.reduceat(of_chunks, starts)
        return cosines, error_bound

    def _find(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return which of `rows` are here, and their documents as indices into `starts`."""
        if not len(self.documents):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = np.searchsorted(self.document_rows, rows)
        places = np.minimum(places, len(self.document_rows) - 1)
        is_here = np.flatnonzero(self.document_rows[places] == rows)
        return is_here, self.documents[places[is_here]]

    def _chunks_of_documents(self, documents: Rows) -> tuple[Rows, Rows]:
        """Return the chunks of some documents, and where each document starts among them."""
        begins = self.stored.starts[documents]
        sizes = self.stored.starts[documents + 1] - begins
        starts = np.cumsum(sizes) - sizes
        return np.repeat(begins - starts, sizes) + np.arange(sizes.sum()), starts


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    segments: tuple[VectorSegment, ...]
    profiles: ProfileVectors
    coverage: Coverage
    lists: VectorLists | None = None
    """The inverted file of the first of `segments`; None for a base that needs none, and where it
    is missing or damaged."""

    def share_of_wide_scope(self, in_scope: Flags) -> float | None:
        """Return the share of the chunks in scope if there are more than `EXACT_CHUNKS`."""
        total = sum(len(segment.stored.chunks) for segment in self.segments)
        if total <= vector_lists.EXACT_CHUNKS:
            return None
        chunks = total
        if not in_scope.all():
            counts = (each.chunk_counts()[in_scope[each.document_rows]] for each in self.segments)
            chunks = sum(int(each.sum()) for each in counts)
        return chunks / total if chunks > vector_lists.EXACT_CHUNKS else None

    def best_documents(
        self, query: Vector, in_scope: Flags, count: int, scope_share: float
    ) -> Rows:
        """Return the rows of about `count` documents in scope that are likely nearest to `query`.

        They are in no particular order, and approximate: only some of `lists`, which must not be
        None, are read. `scope_share` is what `share_of_wide_scope` returned. The codes of documents
        newer than the lists are all compared.
        """
        assert self.lists is not None
        first, *newer = self.segments
        best = self.lists.best_documents(query, first.documents_in(in_scope), count, scope_share)
        found = [first.document_rows[np.searchsorted(first.documents, best)]]
        for segment in newer:
            rows = segment.document_rows[in_scope[segment.document_rows]]
            cosines, _ = segment.approximate_cosine(query, rows)
            found.append(rows[np.argsort(-cosines, kind="stable")[:count]])
        return np.concatenate(found)

    def best_cosine(self, queries: Matrix, in_scope: Flags) -> Scores:
        """Return the weighted cosine of each document in scope by its best chunk, -1..1.

        `queries` has shape (q, dimension), `in_scope` (documents,) and the result (q, documents):
        NaN out of scope and without vectors. A cosine has the same bits under any scope, because
        blocks are always cut alike and only those without a document in scope are skipped.
        """
        cosines = np.full((len(queries), len(in_scope)), np.nan)
        for segment in self.segments:
            segment.put_best_cosine(queries, in_scope, cosines)
        return cosines

    def approximate_cosine(self, query: Vector, rows: Rows) -> tuple[Scores, float]:
        """Return the approximate `best_cosine` of documents by ascending row, from int8 codes.

        With it comes how far any can be from the exact value.
        """
        cosine, error_bound = np.full(len(rows), np.nan), 0.0
        for segment in self.segments:
            found, error = segment.approximate_cosine(query, rows)
            cosine, error_bound = np.where(np.isnan(cosine), found, cosine), max(error_bound, error)
        return cosine, error_bound

    def best_cosine_of(self, query: Vector, rows: Rows) -> Scores:
        """Return the same as `best_cosine`, bit for bit, for a few documents given by row."""
        cosines = np.full(len(rows), np.nan)
        for segment in self.segments:
            segment.put_best_cosine_of(query, rows, cosines)
        return cosines

    def has(self, row: int) -> bool:
        """Return whether a document has vectors."""
        return self._chunks_of(row) is not None

    def mean_vectors(self, rows: Rows) -> Matrix:
        places = filter(None, map(self._chunks_of, rows.tolist()))
        sums = np.stack([stored.chunks[part].sum(axis=0) for stored, part in places])
        means: Matrix = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return means

    def chunk_cosines(self, query: Vector, document_row: int) -> tuple[list[int], list[float]]:
        """Return the line where each chunk of a document starts, in order, and its cosine."""
        if (place := self._chunks_of(document_row)) is None:
            return [], []
        stored, chunks = place
        return stored.lines[chunks, 0].tolist(), (stored.chunks[chunks] @ query).tolist()

    def nearest_chunks(self, query: Vector, within: Flags, count: int) -> Sequence[tuple[int, int]]:
        """Return document row and first line of the nearest chunks of the documents `within`."""
        nearest: list[tuple[float, int, int]] = []
        for segment in self.segments:
            chunks, rows, cosines = segment.chunk_cosines(query, within)
            top = np.argsort(-cosines, kind="stable")[:count]
            lines = segment.stored.lines[chunks[top], 0]
            nearest += zip(
                (-cosines[top]).tolist(), rows[top].tolist(), lines.tolist(), strict=True
            )
        return [(row, line) for _, row, line in sorted(nearest)[:count]]

    def _chunks_of(self, document_row: int) -> tuple[StoredVectors, slice] | None:
        for segment in self.segments:
            if (chunks := segment.chunks_of(document_row)) is not None:
                return segment.stored, chunks
        return None


@dataclass(frozen=True, slots=True)
class ProfileVectors:
    """The vectors of profiles: those mapped from vectors.bin, and the few that it lacks."""

    vectors: Matrix
    """Those of the file, shape (n, dimension); zeros without a vector."""
    quantized: QuantizedVectors
    sources: Rows | None
    """The row in `vectors` of each entity, -1 for none of them; None where it is the same row."""
    newer: Matrix
    newer_entities: Rows

    @classmethod
    def of(cls, vectors: Matrix, quantized: QuantizedVectors) -> Self:
        return cls(vectors, quantized, None, vectors[:0], np.empty(0, np.int64))

    def nearest(self, query: Vector, count: int) -> tuple[Rows, Vector]:
        """Return at least `count` entities with the highest cosines, in no order, and these."""
        used = None
        if self.sources is not None:
            used = np.zeros(len(self.vectors), np.bool_)
            used[self.sources[self.sources >= 0]] = True
        rows = np.sort(nearest(self.vectors, self.quantized, query, count, used))
        cosines = products_of(self.vectors, rows, query) if len(rows) else self.vectors[:0, 0]
        entities = rows
        if self.sources is not None:
            places = np.minimum(rows.searchsorted(self.sources), max(len(rows) - 1, 0))
            entities = np.flatnonzero(rows[places] == self.sources) if len(rows) else rows
            cosines = cosines[places[entities]]
        if not len(self.newer):
            return entities, cosines
        return (
            np.concatenate((entities, self.newer_entities)),
            np.concatenate((cosines, self.newer @ query)),
        )


def load_vectors(store: Store, snapshot: Snapshot, *, model: str, dimension: int) -> VectorMatrix:
    """Return a snapshot's vectors. Raises IndexForeign for another dimension, and IndexFault."""
    # BLAS threads wait for each other, which is far slower than one thread on a busy machine.
    threadpool_limits(limits=1, user_api="blas")
    profiles = snapshot.entities.stored.profiles
    found, missing = vectors_file(model, dimension).map_for(store, snapshot.versions)
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
    """Return the row of each profile among stored ones, -1 for none; several may be the same."""
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
    """Return the distinct profile hashes for which none of `newer` has a vector."""
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
    current, profiles = snapshot.versions, snapshot.entities.stored.profiles
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
    current, meta = snapshot.versions, store.meta()
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
