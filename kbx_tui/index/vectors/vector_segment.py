"""Vectors of some documents of a generation: those mapped from a file, or those newer than it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.int8_codes import (
    Flags,
    Matrix,
    QuantizedVectors,
    Vector,
    products,
    products_of,
    quantize,
)
from kbx_tui.index.vectors.vector_lists import VectorLists

Cosines = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChunkProducts:
    """Approximate products of a query with the chunks of some documents of a segment."""

    products: Matrix
    """Approximate cosine of the document if this chunk were its best, shape (m,)."""
    first_chunk: int
    """Row in `VectorSegment.chunks` of the first of `products`, where they are consecutive."""
    error_bound: float
    """How far any of them can be from the exact value."""
    chunks: Rows | None = None
    """Rows in `VectorSegment.chunks`, ascending; None: consecutive ones."""

    def may_be_best(self, chunks: Rows, starts: Rows, sizes: Rows) -> Flags:
        """Return which chunks can be the best of their documents; at least one of each.

        `starts` and `sizes` say which part of `chunks` belongs to each document.
        """
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

    chunks: Matrix
    """Shape (m, dimension), unit length, by document, then position in the document."""
    lines: NDArray[np.int32]
    """First line in its file of each chunk, 1-based, shape (m,)."""
    starts: Rows
    """Where each document starts in `chunks`."""
    contexts: Matrix
    """Weighted sum of mean chunk and title, shape (documents, dimension)."""
    chunk_weights: Vector
    """Weight of the best chunk of each document; higher where the title has no vector."""
    quantized: QuantizedVectors
    """Weighted chunk plus context, for each chunk: `best_cosine` is the maximum by document."""
    documents: Rows
    """The documents that are part of the generation, as indices into `starts`, ascending."""
    document_rows: Rows
    """Row in the generation of each of `documents`, ascending."""

    @classmethod
    def of(
        cls,
        chunks: Matrix,
        lines: NDArray[np.int32],
        starts: Rows,
        contexts: Matrix,
        chunk_weights: Vector,
        quantized: QuantizedVectors,
        document_rows: Rows,
    ) -> Self:
        """Return a segment all of whose documents are part of the generation."""
        documents = np.arange(len(starts))
        return cls(
            chunks, lines, starts, contexts, chunk_weights, quantized, documents, document_rows
        )

    def renumbered(self, rows: Rows) -> Self:
        """Return the segment in another generation; `rows` maps rows to the new ones, -1 for none.

        It keeps the order of those that stay.
        """
        document_rows = rows[self.document_rows]
        stays = document_rows >= 0
        return replace(self, documents=self.documents[stays], document_rows=document_rows[stays])

    def chunk_counts(self) -> Rows:
        """Return the number of chunks of each of `documents`."""
        return self._all_chunk_counts()[self.documents]

    def put_best_cosine(self, queries: Matrix, in_scope: Flags, cosines: Cosines) -> None:
        """Put the weighted cosines of the documents in scope, by their best chunk, at their rows.

        `queries` has shape (q, dimension), `in_scope` (rows,) and `cosines` (q, rows).
        """
        is_wanted = in_scope[self.document_rows]
        documents = self.documents[is_wanted]
        if len(documents):
            wanted = np.zeros(len(self.starts), np.bool_)
            wanted[documents] = True
            of_chunks = products(self.chunks, queries, np.repeat(wanted, self._all_chunk_counts()))
            best = np.maximum.reduceat(of_chunks, self.starts, axis=1) * self.chunk_weights
            best += products(self.contexts, queries, wanted)
            cosines[:, self.document_rows[is_wanted]] = best[:, documents]

    def approximate_cosine(self, query: Vector, rows: Rows) -> tuple[Cosines, ChunkProducts]:
        """Return the approximate cosine of documents given by ascending row, NaN without vectors.

        Reads the int8 codes only: a quarter of the bytes.
        """
        low, high = (int(rows[0]), int(rows[-1])) if len(rows) else (0, -1)
        first, end = np.searchsorted(self.document_rows, (low, high + 1)).tolist()
        if first >= end:
            return np.full(len(rows), np.nan), NO_PRODUCTS
        if len(rows) < SPARSE_SHARE * (end - first):
            return self._approximate_cosine_of(query, rows)
        documents = self.documents[first:end]
        first_document, end_document = int(documents[0]), int(documents[-1]) + 1
        first_chunk = int(self.starts[first_document])
        end_chunk = self._chunk_end(end_document - 1)
        of_chunks, error_bound = self.quantized.products(query, first_chunk, end_chunk)
        starts = self.starts[first_document:end_document] - first_chunk
        best = np.maximum.reduceat(of_chunks, starts)
        if len(documents) < len(best):
            best = best[documents - first_document]
        products = ChunkProducts(of_chunks, first_chunk, error_bound)
        if len(rows) == len(best) == high + 1 - low:  # all documents, as in most searches
            return best.astype(np.float64), products
        cosines = np.full(high + 1 - low, np.nan)
        cosines[self.document_rows[first:end] - low] = best
        return cosines[rows - low], products

    def put_best_cosine_of(
        self, query: Vector, rows: Rows, approximate: ChunkProducts | None, cosines: Cosines
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
        best = np.maximum.reduceat(products_of(self.chunks, chunks, query), starts)
        context_products = products_of(self.contexts, documents, query)
        cosines[is_here] = best * self.chunk_weights[documents] + context_products

    def best_documents(
        self, query: Vector, in_scope: Flags, count: int, lists: VectorLists, scope_share: float
    ) -> Rows:
        """Return the rows of at most `count` documents with the best chunks in the lists read.

        `lists` are those of this segment; `in_scope` has shape (rows,). In any order.
        """
        wanted = None
        if len(self.documents) < len(self.starts) or not in_scope.all():
            wanted = np.zeros(len(self.starts), np.bool_)
            wanted[self.documents[in_scope[self.document_rows]]] = True
        best = lists.best_documents(query, wanted, count, scope_share)
        return self.document_rows[np.searchsorted(self.documents, best)]

    def count_chunks(self, in_scope: Flags) -> int:
        """Return the number of chunks of the documents in scope, shape (rows,)."""
        return int(self.chunk_counts()[in_scope[self.document_rows]].sum())

    def chunks_of(self, document_row: int) -> slice | None:
        """Return which chunks belong to the document in a row, None if it is not here."""
        place = int(self.document_rows.searchsorted(document_row))
        if place >= len(self.document_rows) or self.document_rows[place] != document_row:
            return None
        document = int(self.documents[place])
        return slice(int(self.starts[document]), self._chunk_end(document))

    def chunk_cosines(self, query: Vector, within: Flags) -> tuple[Rows, Rows, Matrix]:
        """Return chunks, their document rows and their cosines, of the documents `within`.

        `within` has shape (rows,). In order.
        """
        is_within = within[self.document_rows]
        wanted = np.full(len(self.starts), -1, np.int64)
        wanted[self.documents[is_within]] = self.document_rows[is_within]
        rows = np.repeat(wanted, self._all_chunk_counts())
        chunks = np.flatnonzero(rows >= 0)
        return chunks, rows[chunks], products(self.chunks, query[None], rows >= 0)[0, chunks]

    def _approximate_cosine_of(self, query: Vector, rows: Rows) -> tuple[Cosines, ChunkProducts]:
        """Return the same as `approximate_cosine`, reading the codes of these documents alone."""
        cosines = np.full(len(rows), np.nan)
        is_here, documents = self._find(rows)
        if not len(is_here):
            return cosines, NO_PRODUCTS
        chunks, starts, _ = self._chunks_of_documents(documents)
        of_chunks, error_bound = self.quantized.take(chunks).products(query)
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
        """Return the chunks of some documents, and where those of each start and how many."""
        following = np.minimum(documents + 1, len(self.starts) - 1)
        is_last = documents + 1 == len(self.starts)
        ends = np.where(is_last, len(self.chunks), self.starts[following])
        sizes = ends - self.starts[documents]
        starts = np.cumsum(sizes) - sizes
        chunks = np.repeat(self.starts[documents] - starts, sizes) + np.arange(sizes.sum())
        return chunks, starts, sizes

    def _all_chunk_counts(self) -> Rows:
        """Return the number of chunks of each document, part of the generation or not."""
        return np.diff(self.starts, append=len(self.chunks))

    def _chunk_end(self, document: int) -> int:
        is_last = document + 1 == len(self.starts)
        return len(self.chunks) if is_last else int(self.starts[document + 1])


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The vectors of one generation by one model, flattened to one dimension. Read-only.

    Fields that VectorSegment has too are as there, with indices into `versions` as document rows.
    """

    versions: NDArray[np.bytes_]
    """Versions of all documents, including those without a chunk."""
    document_rows: Rows
    starts: Rows
    lines: NDArray[np.int32]
    chunks: NDArray[np.float32]
    contexts: NDArray[np.float32]
    chunk_weights: NDArray[np.float32]
    codes: NDArray[np.int8]
    code_scales: NDArray[np.float32]
    code_errors: NDArray[np.float32]
    profiles: NDArray[np.bytes_]
    """Hash of the profile of each row of `entities`, empty without a vector."""
    entities: NDArray[np.float32]
    entity_codes: NDArray[np.int8] | None = None
    """The codes of `entities`, with scales and errors; None in a file of a former version."""
    entity_scales: NDArray[np.float32] | None = None
    entity_errors: NDArray[np.float32] | None = None

    def profile_codes(self, dimension: int) -> QuantizedVectors:
        """Return the codes of the profiles, made here where the file has none."""
        codes, scales, errors = self.entity_codes, self.entity_scales, self.entity_errors
        if codes is None or scales is None or errors is None:
            return quantize(self.entities.reshape(-1, dimension))
        return QuantizedVectors(codes.reshape(-1, dimension), scales, errors)

    def to_segment(self, dimension: int) -> VectorSegment:
        """Return a segment of views of the arrays, with document rows as stored."""
        return VectorSegment.of(
            chunks=self.chunks.reshape(-1, dimension),
            lines=self.lines,
            starts=self.starts,
            contexts=self.contexts.reshape(-1, dimension),
            chunk_weights=self.chunk_weights,
            quantized=QuantizedVectors(
                self.codes.reshape(-1, dimension), self.code_scales, self.code_errors
            ),
            document_rows=self.document_rows,
        )
