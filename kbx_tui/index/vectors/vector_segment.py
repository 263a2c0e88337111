"""Vectors of some documents of a generation: those mapped from a file, or those newer than it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Flags, Ints, Matrix, Rows, Scores, Starts, Vector, Versions
from kbx_tui.index.derived_files import DocumentFile
from kbx_tui.index.vectors.int8_codes import QuantizedVectors, products, products_of


@dataclass(frozen=True, slots=True)
class ChunkProducts:
    """Approximate products of a query with the chunks of some documents of a segment."""

    products: Matrix
    """Approximate cosine of the document if this chunk were its best, shape (m,)."""
    first_chunk: int
    """Row in `VectorSegment.chunks` of the first of `products`, where they are consecutive."""
    error_bound: float
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
class StoredVectors:
    versions: Versions
    document_rows: Rows
    """The documents that have chunks, as indices into `versions`, ascending."""
    starts: Starts
    """Where each of them starts in `chunks`, and where the last one ends."""
    lines: Ints
    """First and last line in its file of each chunk, 1-based, shape (m, 2)."""
    chunks: Matrix
    """Shape (m, dimension), unit length, by document, then position in the document."""
    contexts: Matrix
    """Weighted sum of mean chunk and title, shape (documents, dimension)."""
    chunk_weights: Vector
    """Weight of the best chunk of each document; higher where the title has no vector."""
    codes: NDArray[np.int8]
    """Weighted chunk plus context, for each chunk: `best_cosine` is the maximum by document."""
    code_scales: Vector
    code_errors: Vector
    profiles: Versions
    """Hash of the profile of each row of `entities`, empty without a vector."""
    entities: Matrix
    entity_codes: NDArray[np.int8]
    entity_scales: Vector
    entity_errors: Vector

    def quantized(self) -> QuantizedVectors:
        return QuantizedVectors(self.codes, self.code_scales, self.code_errors)

    def quantized_entities(self) -> QuantizedVectors:
        return QuantizedVectors(self.entity_codes, self.entity_scales, self.entity_errors)


def vectors_file(model: str, dimension: int) -> DocumentFile[StoredVectors]:
    version = f"4, {dimension} numbers each, {' '.join(model.split())}"
    return DocumentFile("vectors", version, StoredVectors)


@dataclass(frozen=True, slots=True)
class VectorSegment:
    """Chunk vectors by document. Documents that are not part of the generation are passed over.

    So one changed document leaves the arrays of all others as they are: mapped.
    """

    chunks: Matrix
    lines: Ints
    starts: Starts
    contexts: Matrix
    chunk_weights: Vector
    quantized: QuantizedVectors
    documents: Rows
    """The documents that are part of the generation, as indices into `starts`, ascending."""
    document_rows: Rows
    """Row in the generation of each of `documents`, ascending."""

    @classmethod
    def of(cls, stored: StoredVectors, rows: Rows) -> Self:
        """Return the segment of stored vectors in a generation.

        `rows` has the row of each of their documents, -1 for none, in the order of those that stay.
        """
        document_rows = rows[stored.document_rows]
        return cls(
            chunks=stored.chunks,
            lines=stored.lines,
            starts=stored.starts,
            contexts=stored.contexts,
            chunk_weights=stored.chunk_weights,
            quantized=stored.quantized(),
            documents=np.flatnonzero(document_rows >= 0),
            document_rows=document_rows[document_rows >= 0],
        )

    def chunk_counts(self) -> Rows:
        return self._all_chunk_counts()[self.documents]

    def put_best_cosine(self, queries: Matrix, in_scope: Flags, cosines: Scores) -> None:
        """Put the weighted cosines of the documents in scope, by their best chunk, at their rows.

        `queries` has shape (q, dimension), `in_scope` (rows,) and `cosines` (q, rows).
        """
        is_wanted = in_scope[self.document_rows]
        documents = self.documents[is_wanted]
        if len(documents):
            wanted = np.zeros(len(self.contexts), np.bool_)
            wanted[documents] = True
            of_chunks = products(self.chunks, queries, np.repeat(wanted, self._all_chunk_counts()))
            best = np.maximum.reduceat(of_chunks, self.starts[:-1], axis=1) * self.chunk_weights
            best += products(self.contexts, queries, wanted)
            cosines[:, self.document_rows[is_wanted]] = best[:, documents]

    def approximate_cosine(self, query: Vector, rows: Rows) -> tuple[Scores, ChunkProducts]:
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
        end_chunk = int(self.starts[end_document])
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
        best = np.maximum.reduceat(products_of(self.chunks, chunks, query), starts)
        context_products = products_of(self.contexts, documents, query)
        cosines[is_here] = best * self.chunk_weights[documents] + context_products

    def documents_in(self, in_scope: Flags) -> Flags | None:
        """Return which documents, in the order of `starts`, are in scope; None: all.

        `in_scope` has shape (rows,).
        """
        if len(self.documents) == len(self.contexts) and in_scope.all():
            return None
        wanted = np.zeros(len(self.contexts), np.bool_)
        wanted[self.documents[in_scope[self.document_rows]]] = True
        return wanted

    def count_chunks(self, in_scope: Flags) -> int:
        return int(self.chunk_counts()[in_scope[self.document_rows]].sum())

    def chunks_of(self, document_row: int) -> slice | None:
        place = int(self.document_rows.searchsorted(document_row))
        if place >= len(self.document_rows) or self.document_rows[place] != document_row:
            return None
        document = int(self.documents[place])
        return slice(*self.starts[document : document + 2].tolist())

    def chunk_cosines(self, query: Vector, within: Flags) -> tuple[Rows, Rows, Matrix]:
        """Return chunks, their document rows and their cosines, of the documents `within`.

        `within` has shape (rows,). In order.
        """
        is_within = within[self.document_rows]
        wanted = np.full(len(self.contexts), -1, np.int64)
        wanted[self.documents[is_within]] = self.document_rows[is_within]
        rows = np.repeat(wanted, self._all_chunk_counts())
        chunks = np.flatnonzero(rows >= 0)
        return chunks, rows[chunks], products(self.chunks, query[None], rows >= 0)[0, chunks]

    def _approximate_cosine_of(self, query: Vector, rows: Rows) -> tuple[Scores, ChunkProducts]:
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
        sizes = self.starts[documents + 1] - self.starts[documents]
        starts = np.cumsum(sizes) - sizes
        chunks = np.repeat(self.starts[documents] - starts, sizes) + np.arange(sizes.sum())
        return chunks, starts, sizes

    def _all_chunk_counts(self) -> Rows:
        counts: Rows = np.diff(self.starts)
        return counts
