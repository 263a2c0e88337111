"""All vectors of one generation: exact cosines under any filter, no approximate index.

An approximate index loses rows under a selective path filter. Where only the best documents are
wanted, int8 codes first narrow down which could be among them (`index/vectors/int8_codes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kbx_tui.index.arrays import Flags, Matrix, Rows, Scores, Vector
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.int8_codes import QuantizedVectors, nearest, products, products_of
from kbx_tui.index.vectors.stored_vectors import Coverage, StoredVectors
from kbx_tui.index.vectors.vector_lists import VectorLists


@dataclass(frozen=True, slots=True)
class ChunkProducts:
    products: Matrix
    """Approximate cosine of the document if this chunk were its best, shape (m,)."""
    first_chunk: int
    """Row in `StoredVectors.chunks` of the first of `products`, where they are consecutive."""
    error_bound: float
    chunks: Rows | None = None
    """Rows in `StoredVectors.chunks`, ascending; None: consecutive ones."""

    def may_be_best(self, chunks: Rows, starts: Rows, sizes: Rows) -> Flags:
        """Return which chunks can be the best of their documents; at least one of each."""
        if self.chunks is None:
            of_chunks = self.products[chunks - self.first_chunk]
        else:
            of_chunks = self.products[np.searchsorted(self.chunks, chunks)]
        best = np.maximum.reduceat(of_chunks, starts)
        flags: Flags = of_chunks >= np.repeat(best - 2 * self.error_bound, sizes)
        return flags


NO_PRODUCTS = ChunkProducts(np.zeros(0, np.float32), 0, 0.0)

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

        `rows` has the row of each of their documents, -1 for none, in the order of those that stay.
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

    def approximate_cosine(self, query: Vector, rows: Rows) -> tuple[Scores, ChunkProducts]:
        """Return the approximate cosine of documents by ascending row, NaN without vectors."""
        low, high = (int(rows[0]), int(rows[-1])) if len(rows) else (0, -1)
        first, end = np.searchsorted(self.document_rows, (low, high + 1)).tolist()
        if first >= end:
            return np.full(len(rows), np.nan), NO_PRODUCTS
        if len(rows) < SPARSE_SHARE * (end - first):
            return self._approximate_cosine_of(query, rows)
        documents = self.documents[first:end]
        bounds = self.stored.starts[documents[0] : documents[-1] + 2]
        first_chunk, end_chunk = int(bounds[0]), int(bounds[-1])
        of_chunks, error_bound = self.quantized.products(query, first_chunk, end_chunk)
        best = np.maximum.reduceat(of_chunks, bounds[:-1] - first_chunk)
        if len(documents) < len(best):
            best = best[documents - documents[0]]
        products = ChunkProducts(of_chunks, first_chunk, error_bound)
        if len(rows) == len(best) == high + 1 - low:  # all documents, as in most searches
            return best.astype(np.float64), products
        cosines = np.full(high + 1 - low, np.nan)
        cosines[self.document_rows[first:end] - low] = best
        return cosines[rows - low], products

    def put_best_cosine_of(
        self, query: Vector, rows: Rows, approximate: ChunkProducts | None, cosines: Scores
    ) -> None:
        """Put the same as `put_best_cosine`, bit for bit, for a few documents given by row.

        `cosines` has the shape of `rows`. With `approximate`, which must cover all of them, only
        chunks that can be the best are read.
        """
        is_here, documents = self._find(rows)
        if not len(is_here):
            return
        chunks, starts, sizes = self._chunks_of_documents(documents)
        if approximate is not None:
            flags = approximate.may_be_best(chunks, starts, sizes)
            chunks, sizes = chunks[flags], np.add.reduceat(flags, starts, dtype=np.int64)
            starts = np.cumsum(sizes) - sizes
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

    def count_chunks(self, in_scope: Flags) -> int:
        return int(self.chunk_counts()[in_scope[self.document_rows]].sum())

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

    def _approximate_cosine_of(self, query: Vector, rows: Rows) -> tuple[Scores, ChunkProducts]:
        cosines = np.full(len(rows), np.nan)
        is_here, documents = self._find(rows)
        if not len(is_here):
            return cosines, NO_PRODUCTS
        chunks, starts, _ = self._chunks_of_documents(documents)
        of_chunks, error_bound = self.quantized.part(chunks).products(query)
        cosines[is_here] = np.maximum.reduceat(of_chunks, starts)
        return cosines, ChunkProducts(of_chunks, int(chunks[0]), error_bound, chunks)

    def _find(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return which of `rows` are here, and their documents as indices into `starts`."""
        if not len(self.documents):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = np.searchsorted(self.document_rows, rows)
        places = np.minimum(places, len(self.document_rows) - 1)
        is_here = np.flatnonzero(self.document_rows[places] == rows)
        return is_here, self.documents[places[is_here]]

    def _chunks_of_documents(self, documents: Rows) -> tuple[Rows, Rows, Rows]:
        begins = self.stored.starts[documents]
        sizes = self.stored.starts[documents + 1] - begins
        starts = np.cumsum(sizes) - sizes
        chunks = np.repeat(begins - starts, sizes) + np.arange(sizes.sum())
        return chunks, starts, sizes


@dataclass(frozen=True, slots=True)
class ApproximateCosines:
    """Scores of documents computed from int8 codes, with an error bound."""

    cosine: Scores
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
        """Return the share of the chunks in scope if there are more than `EXACT_CHUNKS`."""
        total = sum(len(segment.stored.chunks) for segment in self.segments)
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
        """Return the approximate `best_cosine` of documents by ascending row, from int8 codes."""
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
