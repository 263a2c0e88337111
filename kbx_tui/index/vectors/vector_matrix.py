"""All vectors of one generation: exact cosines under any filter, no approximate index.

An approximate index loses rows under a selective path filter. Where only the best documents are
wanted, int8 codes first narrow down which could be among them (`index/vectors/int8_codes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Flags, Matrix, Rows, Scores, Vector, Versions
from kbx_tui.index.store import Store
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.int8_codes import QuantizedVectors, nearest, products_of
from kbx_tui.index.vectors.vector_lists import VectorLists
from kbx_tui.index.vectors.vector_segment import ChunkProducts, VectorSegment
from kbx_tui.index.versions import places_of, stored_versions


@dataclass(frozen=True, slots=True)
class ApproximateCosines:
    """Scores of documents computed from int8 codes, with an error bound."""

    cosine: Scores
    """Approximate `VectorMatrix.best_cosine` of each document, NaN without vectors."""
    error_bound: float
    """How far any of `cosine` can be from the exact value."""
    parts: tuple[ChunkProducts, ...]


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    segments: tuple[VectorSegment, ...]
    profiles: ProfileVectors
    coverage: Coverage
    lists: VectorLists | None = None
    """The inverted file of the first of `segments`; None for a base that needs none, and where it
    is missing or damaged."""

    def share_of_wide_scope(self, in_scope: Flags) -> float | None:
        """Return which share of the chunks is in scope, if that is more than `EXACT_CHUNKS`.

        `in_scope` has shape (documents,).
        """
        total = sum(len(segment.chunks) for segment in self.segments)
        if total <= vector_lists.EXACT_CHUNKS:
            return None
        chunks = total
        if not in_scope.all():
            chunks = sum(segment.count_chunks(in_scope) for segment in self.segments)
        return chunks / total if chunks > vector_lists.EXACT_CHUNKS else None

    def best_documents(
        self, query: Vector, in_scope: Flags, count: int, scope_share: float
    ) -> Rows:
        """Return the rows of about `count` documents in scope that are likely nearest to `query`.

        Approximate: it reads `lists`, which must be there. `scope_share` is that of the wide scope.
        Of documents newer than the lists, all codes are compared. In any order.
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

    def approximate_cosine(self, query: Vector, rows: Rows) -> ApproximateCosines:
        """Return the approximate `best_cosine` of documents, given by ascending row.

        Reads the int8 codes only: a quarter of the bytes.
        """
        found = [segment.approximate_cosine(query, rows) for segment in self.segments]
        cosine, *others = (cosines for cosines, _ in found)
        for other in others:
            cosine = np.where(np.isnan(cosine), other, cosine)
        parts = tuple(part for _, part in found)
        return ApproximateCosines(cosine, max(part.error_bound for part in parts), parts)

    def best_cosine_of(
        self, query: Vector, rows: Rows, approximate: ApproximateCosines | None = None
    ) -> Scores:
        """Return the same as `best_cosine`, bit for bit, for a few documents given by row.

        With `approximate`, which must cover all of them, only chunks that can be the best are read.
        """
        cosines = np.full(len(rows), np.nan)
        for number, segment in enumerate(self.segments):
            part = None if approximate is None else approximate.parts[number]
            segment.put_best_cosine_of(query, rows, part, cosines)
        return cosines

    def mean_vectors(self, rows: Rows) -> Matrix:
        """Return the mean of the chunks of some documents, unit length, by row.

        Every one of `rows` must have vectors.
        """
        places = filter(None, map(self._chunks_of, rows.tolist()))
        sums = np.stack([segment.chunks[part].sum(axis=0) for segment, part in places])
        means: Matrix = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return means

    def chunk_cosines(self, query: Vector, document_row: int) -> tuple[list[int], list[float]]:
        """Return the line where each chunk of a document starts, in order, and its cosine.

        Empty for a document without vectors.
        """
        if (place := self._chunks_of(document_row)) is None:
            return [], []
        segment, chunks = place
        return segment.lines[chunks, 0].tolist(), (segment.chunks[chunks] @ query).tolist()

    def nearest_chunks(self, query: Vector, within: Flags, count: int) -> Sequence[tuple[int, int]]:
        """Return document row and first line of the chunks with the highest cosines, best first.

        Those of the documents that `within`, shape (documents,), flags; at most `count`.
        """
        nearest: list[tuple[float, int, int]] = []
        for segment in self.segments:
            chunks, rows, cosines = segment.chunk_cosines(query, within)
            top = np.argsort(-cosines, kind="stable")[:count]
            lines = segment.lines[chunks[top], 0]
            nearest += zip(
                (-cosines[top]).tolist(), rows[top].tolist(), lines.tolist(), strict=True
            )
        return [(row, line) for _, row, line in sorted(nearest)[:count]]

    def _chunks_of(self, document_row: int) -> tuple[VectorSegment, slice] | None:
        for segment in self.segments:
            if (chunks := segment.chunks_of(document_row)) is not None:
                return segment, chunks
        return None


NO_ROWS = np.empty(0, np.int64)


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
        return cls(vectors, quantized, None, vectors[:0], NO_ROWS)

    def nearest(self, query: Vector, count: int) -> tuple[Rows, Vector]:
        """Return the entities whose profiles have the highest cosines with a query, and these.

        In no particular order, at least `count` where there are as many.
        """
        used = None
        if self.sources is not None:
            used = np.zeros(len(self.vectors), np.bool_)
            used[self.sources[self.sources >= 0]] = True
        rows = np.sort(nearest(self.vectors, self.quantized, query, count, used))
        cosines = products_of(self.vectors, rows, query) if len(rows) else self.vectors[:0, 0]
        entities = rows
        if self.sources is not None:
            places = np.minimum(rows.searchsorted(self.sources), max(len(rows) - 1, 0))
            entities = np.flatnonzero(rows[places] == self.sources) if len(rows) else NO_ROWS
            cosines = cosines[places[entities]]
        if not len(self.newer):
            return entities, cosines
        return (
            np.concatenate((entities, self.newer_entities)),
            np.concatenate((cosines, self.newer @ query)),
        )


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many texts there are to embed, and how many of them have no vector."""

    texts: int
    missing: int

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(self.texts + other.texts, self.missing + other.missing)

    @property
    def share(self) -> float:
        """Share of the texts that have a vector, 0..1; 1 when there is nothing to embed."""
        return 1.0 - self.missing / self.texts if self.texts else 1.0


def read_coverage(store: Store) -> Coverage:
    texts, missing, profiles = count_texts(store, stored_versions(store))
    return Coverage(int(texts.sum()), int(missing.sum())) + profiles


def count_texts(store: Store, versions: Versions) -> tuple[Rows, Rows, Coverage]:
    """Return how many texts each document with these versions has, and how many lack a vector.

    And the coverage of the profiles of entities. Raises IndexFault.
    """
    hashes = store.rows("vectors", ["text_hash"])["text_hash"]
    chunks = store.rows("chunks", ["version", "text_hash"])
    documents = places_of(chunks["version"], versions)
    lacks_vector = places_of(chunks["text_hash"], hashes) < 0
    counted = documents >= 0
    texts = np.bincount(documents[counted], minlength=len(versions))
    missing = np.bincount(documents[counted & lacks_vector], minlength=len(versions))
    unsplit = np.flatnonzero(texts == 0)
    unsplit = unsplit[are_texts(store, versions[unsplit])]
    texts[unsplit] = missing[unsplit] = 1
    profiles = store.rows("entities", ["text_hash"])["text_hash"]
    lacking = int(np.count_nonzero(places_of(profiles, hashes) < 0))
    return texts, missing, Coverage(len(profiles), lacking)


def are_texts(store: Store, versions: Versions) -> NDArray[np.bool_]:
    """Return which documents without a chunk count as a text: those that are not blank."""
    if not len(versions):
        return np.zeros(0, np.bool_)
    blank = store.rows("documents", ["version"], r"NOT regexp_like(body, '\S')")
    return places_of(versions, blank["version"]) < 0
