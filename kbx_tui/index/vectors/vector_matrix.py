"""All vectors of one generation in memory: exact cosines under any filter, no approximate index.

An approximate index loses rows under a selective path filter. Where only the best documents are
wanted, int8 codes first narrow down which could be among them (`index/vectors/int8_codes.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.coverage import Coverage
from kbx_tui.index.vectors.int8_codes import BLOCK as QUANTIZED_BLOCK
from kbx_tui.index.vectors.int8_codes import Matrix, QuantizedVectors, Vector
from kbx_tui.index.vectors.parallel_scan import parallel_scan

Flags = NDArray[np.bool_]
Cosines = NDArray[np.float64]

CHUNK_WEIGHT, DOCUMENT_WEIGHT, TITLE_WEIGHT = 0.7, 0.1, 0.2
"""Weights of best chunk, mean of all chunks, and title in the cosine of a document.

A chunk from the middle of a talk does not name the talk's topic. Chosen by the experiment "chunk in
the context of its document" in docs/quality.md.
"""

BLOCK = 1024
"""Vectors compared with all queries before the next ones are read from memory."""

GROUP = 8
"""Rows per group: BLAS computes full groups bit-identically wherever they are. 4 would suffice."""

PARALLEL_FROM = 16
"""Number of blocks from which a second thread is used."""


@dataclass(frozen=True, slots=True)
class ApproximateCosines:
    """Cosines of documents computed from int8 codes, with an error bound."""

    cosine: Cosines
    """Approximate `VectorMatrix.best_cosine` of each document, NaN without vectors."""
    error_bound: float
    """How far any of `cosine` and `chunk_products` can be from the exact value."""
    chunk_products: Matrix
    """Approximate cosine of the document if this chunk were its best, shape (m,)."""
    first_chunk: int
    """Row in `VectorMatrix.chunks` of the first of `chunk_products`."""

    def may_be_best(self, chunks: Rows, starts: Rows, sizes: Rows) -> Flags:
        """Return which chunks can be the best of their documents; at least one of each.

        `starts` and `sizes` say which part of `chunks` belongs to each document.
        """
        products = self.chunk_products[chunks - self.first_chunk]
        best = np.maximum.reduceat(products, starts)
        flags: Flags = products >= np.repeat(best - 2 * self.error_bound, sizes)
        return flags


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    """Chunk vectors by document, and entity profile vectors by entity."""

    chunks: Matrix
    """Shape (m, dimension), unit length, sorted by document row, then position in the document."""
    lines: NDArray[np.int32]
    """First line in its file of each chunk, 1-based, shape (m,)."""
    document_rows: Rows
    """Rows of the documents that have vectors, ascending."""
    starts: Rows
    """Where each of `document_rows` starts in `chunks`."""
    contexts: Matrix
    """Weighted sum of mean chunk and title, shape (documents with vectors, dimension)."""
    chunk_weights: Vector
    """Weight of the best chunk of each of `document_rows`; higher where the title has no vector."""
    quantized: QuantizedVectors
    """Weighted chunk plus context, for each chunk: `best_cosine` is the maximum by document."""
    entities: Matrix
    """Shape (e, dimension), parallel to the snapshot's entities; zeros without a vector."""
    coverage: Coverage
    """How many texts the generation has, and how many of them have no vector here."""

    def best_cosine(self, queries: Matrix, in_scope: Flags) -> Cosines:
        """Return the weighted cosine of each document in scope by its best chunk, -1..1.

        `queries` has shape (q, dimension), `in_scope` (documents,) and the result (q, documents):
        NaN out of scope and without vectors. A cosine has the same bits under any scope, because
        blocks are always cut alike and only those without a document in scope are skipped.
        """
        cosines = np.full((len(queries), len(in_scope)), np.nan)
        wanted = in_scope[self.document_rows]
        if wanted.any():
            chunk_cosines = _products(self.chunks, queries, np.repeat(wanted, self.chunk_counts()))
            best = np.maximum.reduceat(chunk_cosines, self.starts, axis=1) * self.chunk_weights
            best += _products(self.contexts, queries, wanted)
            cosines[:, self.document_rows[wanted]] = best[:, wanted]
        return cosines

    def approximate_cosine(self, query: Vector, rows: Rows) -> ApproximateCosines:
        """Return the approximate `best_cosine` of documents, given by ascending row.

        Reads the int8 codes only: a quarter of the bytes.
        """
        chunk_products, first_chunk = np.zeros(0, np.float32), 0
        if not len(rows):
            return ApproximateCosines(np.zeros(0), 0.0, chunk_products, first_chunk)
        low, high = int(rows[0]), int(rows[-1])
        first, end = np.searchsorted(self.document_rows, (low, high + 1)).tolist()
        cosines, error_bound = np.full(high + 1 - low, np.nan), 0.0
        if first < end:
            first_chunk = int(self.starts[first])
            codes = self.quantized.view(first_chunk, self.chunk_end(end - 1))
            chunk_products, error_bound = codes.products(query)
            best = np.maximum.reduceat(chunk_products, self.starts[first:end] - first_chunk)
            cosines[self.document_rows[first:end] - low] = best
        return ApproximateCosines(cosines[rows - low], error_bound, chunk_products, first_chunk)

    def best_cosine_of(
        self, query: Vector, rows: Rows, approximate: ApproximateCosines | None = None
    ) -> Cosines:
        """Return the same as `best_cosine`, bit for bit, for a few documents given by row.

        With `approximate`, which must cover all of them, only chunks that can be the best are read.
        """
        cosines = np.full(len(rows), np.nan)
        if not len(self.document_rows):
            return cosines
        documents = np.searchsorted(self.document_rows, rows)
        documents = np.minimum(documents, len(self.document_rows) - 1)
        with_vectors = np.flatnonzero(self.document_rows[documents] == rows)
        if len(with_vectors):
            documents = documents[with_vectors]
            sizes = np.append(self.starts, len(self.chunks))[documents + 1] - self.starts[documents]
            starts = np.cumsum(sizes) - sizes
            chunks = np.repeat(self.starts[documents] - starts, sizes) + np.arange(sizes.sum())
            if approximate is not None:
                flags = approximate.may_be_best(chunks, starts, sizes)
                chunks, sizes = chunks[flags], np.add.reduceat(flags, starts, dtype=np.int64)
                starts = np.cumsum(sizes) - sizes
            best = np.maximum.reduceat(_products_of(self.chunks, chunks, query), starts)
            context_products = _products_of(self.contexts, documents, query)
            cosines[with_vectors] = best * self.chunk_weights[documents] + context_products
        return cosines

    def mean_vectors(self, rows: Rows) -> Matrix:
        """Return the mean of the chunks of some documents, unit length, by row.

        Every one of `rows` must have vectors.
        """
        chunks = map(self._chunks_of, np.searchsorted(self.document_rows, rows).tolist())
        sums = np.stack([self.chunks[part].sum(axis=0) for part in chunks])
        means: Matrix = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return means

    def chunk_cosines(self, query: Vector, document_row: int) -> tuple[list[int], list[float]]:
        """Return the line where each chunk of a document starts, in order, and its cosine.

        Empty for a document without vectors.
        """
        document = int(self.document_rows.searchsorted(document_row))
        if document >= len(self.document_rows) or self.document_rows[document] != document_row:
            return [], []
        chunks = self._chunks_of(document)
        return self.lines[chunks].tolist(), (self.chunks[chunks] @ query).tolist()

    def chunk_counts(self) -> Rows:
        """Return the number of chunks of each of `document_rows`."""
        return np.diff(self.starts, append=len(self.chunks))

    def chunk_end(self, document: int) -> int:
        """Return where the chunks of a document end; `document` is an index of `document_rows`."""
        is_last = document + 1 == len(self.starts)
        return len(self.chunks) if is_last else int(self.starts[document + 1])

    def _chunks_of(self, document: int) -> slice:
        return slice(int(self.starts[document]), self.chunk_end(document))


def rows_or_zeros(matrix: Matrix, rows: Rows) -> Matrix:
    """Return rows of a matrix, zeros for -1."""
    chosen = np.zeros((len(rows), matrix.shape[1]), np.float32)
    chosen[rows >= 0] = matrix[rows[rows >= 0]]
    return chosen


def document_contexts(chunks: Matrix, starts: Rows, titles: Matrix) -> tuple[Matrix, Vector]:
    """Return `VectorMatrix.contexts` and `VectorMatrix.chunk_weights`.

    `titles` has a row per document, zeros without a vector; then the title's weight is shared out
    among chunk and document.
    """
    if not len(starts):
        return titles, np.zeros(0, np.float32)
    contexts = np.add.reduceat(chunks, starts, axis=0)
    lengths = np.linalg.norm(contexts, axis=1, keepdims=True)
    contexts *= DOCUMENT_WEIGHT / np.maximum(lengths, 1e-9)
    weights = np.where(titles.any(axis=1), 1.0, CHUNK_WEIGHT + DOCUMENT_WEIGHT).astype(np.float32)
    contexts += TITLE_WEIGHT * titles
    contexts /= weights[:, None]
    return contexts, (CHUNK_WEIGHT / weights).astype(np.float32)


def quantize_with_context(
    chunks: Matrix, starts: Rows, contexts: Matrix, chunk_weights: Vector
) -> QuantizedVectors:
    """Return the codes of weighted chunk plus context, for each chunk."""
    quantized = QuantizedVectors.empty(*chunks.shape)
    documents = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chunks)))
    for begin in range(0, len(chunks), QUANTIZED_BLOCK):
        block = slice(begin, begin + QUANTIZED_BLOCK)
        document = documents[block]
        quantized.put(begin, chunks[block] * chunk_weights[document, None] + contexts[document])
    return quantized


def _products(vectors: Matrix, queries: Matrix, wanted: Flags) -> Matrix:
    """Return the product of each query with each vector; blocks without a wanted one are left 0."""
    products = np.zeros((len(queries), len(vectors)), np.float32)
    grouped = len(vectors) - len(vectors) % GROUP
    blocks = [begin for begin in range(0, grouped, BLOCK) if wanted[begin : begin + BLOCK].any()]

    def scan(begin: int) -> None:
        block = slice(begin, min(begin + BLOCK, grouped))
        for row, query in enumerate(queries):
            np.dot(vectors[block], query, out=products[row, block])

    parallel_scan(blocks, scan, parallel_from=PARALLEL_FROM)
    rest = np.arange(grouped, len(vectors))
    for row, query in enumerate(queries):
        products[row, rest] = _products_of(vectors, rest, query)
    return products


def _products_of(vectors: Matrix, rows: Rows, query: Vector) -> Matrix:
    """Return the products of some vectors, bit-identical to those of `_products`.

    BLAS multiplies full groups of rows differently from a remainder, so rows are padded.
    """
    padded = np.resize(rows, len(rows) + -len(rows) % GROUP)
    products: Matrix = (vectors[padded] @ query)[: len(rows)]
    return products
