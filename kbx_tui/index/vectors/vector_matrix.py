"""Vectors of one generation in memory: exact similarity under any filter, no index to tune.

88,000 chunks are 135 MB and one query takes milliseconds; an approximate index would lose rows
under a path filter (the default probes of LanceDB found 35 % of them). Where only the best are
wanted, codes of a quarter of that tell first which could be (`index/vectors/int8_codes.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Keys
from kbx_tui.index.vectors.int8_codes import AT_ONCE, QuantizedVectors
from kbx_tui.index.vectors.parallel_scan import share

Matrix = NDArray[np.float32]
Flags = NDArray[np.bool_]

CHUNK_SHARE, WHOLE_SHARE, TITLE_SHARE = 0.7, 0.1, 0.2
"""What the likeness of a document is made of: its best chunk, all its chunks, its title.

A chunk from the middle of a talk does not say what the talk is about. Flat nDCG@10 against the
best chunk alone: tc39-none project .857 for .804, qmsum-none person .819 for .812, all others
within .005. With .6, .2, .2 tc39-none team+project is .793 for .809, locomo person .825 for .827.
"""

BLOCK = 1024
"""Vectors compared with all queries before the next: reading them is what takes the time."""

GROUP = 8
"""Rows that BLAS takes alike wherever they stand; four would do."""

SHARED_FROM = 16
"""Blocks from which on a second thread helps."""


@dataclass(frozen=True, slots=True)
class RoundedCosines:
    """What codes of vectors say of documents: about what is so, and how far off at most."""

    cosine: NDArray[np.float64]
    """About the `best_cosine` of each document asked about, NaN without vectors."""
    slack: float
    """How far at most that is, and any of `products`, from what it stands for."""
    products: Matrix
    """About what the likeness of a document would be if this chunk were its best, shape (m,)."""
    begin: int
    """Place in `Vectors.chunks` of the first of them."""

    def may_be_best(self, chunks: Keys, starts: Keys, sizes: Keys) -> Flags:
        """Tell which chunks can be the best of their documents, for each of which one can.

        `starts` and `sizes` say where in `chunks` those of a document stand.
        """
        products = self.products[chunks - self.begin]
        best = np.maximum.reduceat(products, starts)
        flags: Flags = products >= np.repeat(best - 2 * self.slack, sizes)
        return flags


@dataclass(frozen=True, slots=True)
class Vectors:
    """Chunk vectors by document, and entity profile vectors by entity."""

    chunks: Matrix
    """Shape (m, dimension), unit length, sorted by document row, then place in the document."""
    lines: NDArray[np.int32]
    """First line in its file of each chunk, 1-based."""
    document_rows: Keys
    """Document rows that have vectors, ascending."""
    starts: Keys
    """Where each of `document_rows` begins in `chunks`."""
    contexts: Matrix
    """Shape (documents with vectors, dimension): what whole document and title add, weighed."""
    chunk_shares: NDArray[np.float32]
    """Weight of the best chunk of each of `document_rows`; more where the title has no vector."""
    quantized: QuantizedVectors
    """What `best_cosine` takes the best of: the chunk by its weight, and the context, as codes."""
    entities: Matrix
    """Shape (e, dimension), parallel to the snapshot's entities; zeros where there is none."""
    share: float
    """Share of the chunks that have a vector, 0..1; 0 while nothing is split yet."""

    def best_cosine(self, queries: Matrix, in_scope: Flags) -> NDArray[np.float64]:
        """Return how like the best chunk of each document in scope is, -1..1.

        `queries` has shape (q, dimension), `in_scope` (documents,) and the result (q, documents):
        NaN out of scope and without vectors. A cosine does not depend on the scope, to the last
        bit: blocks are the same under any, those with nothing in scope are passed over.
        """
        best = np.full((len(queries), len(in_scope)), np.nan)
        wanted = in_scope[self.document_rows]
        if wanted.any():
            sizes = np.diff(self.starts, append=len(self.chunks))
            cosines = _products(self.chunks, queries, np.repeat(wanted, sizes))
            found = np.maximum.reduceat(cosines, self.starts, axis=1) * self.chunk_shares
            found += _products(self.contexts, queries, wanted)
            best[:, self.document_rows[wanted]] = found[:, wanted]
        return best

    def about_cosine(self, query: NDArray[np.float32], rows: Keys) -> RoundedCosines:
        """Return about what `best_cosine` says of documents, by row, and how far at most it is from
        that. `rows` ascend. NaN without vectors. It reads a quarter of what that reads.
        """
        products, begin = np.zeros(0, np.float32), 0
        if not len(rows):
            return RoundedCosines(np.zeros(0), 0.0, products, begin)
        low, high = int(rows[0]), int(rows[-1])
        first, end = np.searchsorted(self.document_rows, (low, high + 1)).tolist()
        about, slack = np.full(high + 1 - low, np.nan), 0.0
        if first < end:
            begin = self._part(first)[0]
            part = self.quantized.part(begin, self._part(end - 1)[1])
            products, slack = part.products(query)
            best = np.maximum.reduceat(products, self.starts[first:end] - begin)
            about[self.document_rows[first:end] - low] = best
        return RoundedCosines(about[rows - low], slack, products, begin)

    def best_cosine_of(
        self, query: NDArray[np.float32], rows: Keys, about: RoundedCosines | None = None
    ) -> NDArray[np.float64]:
        """Return what `best_cosine` says of a few documents, by row, without looking at others.

        With `about`, which must know all of them, only chunks that can be the best are read.
        """
        best = np.full(len(rows), np.nan)
        if not len(self.document_rows):
            return best
        places = np.minimum(np.searchsorted(self.document_rows, rows), len(self.document_rows) - 1)
        known = np.flatnonzero(self.document_rows[places] == rows)
        if len(known):
            places = places[known]
            sizes = np.append(self.starts, len(self.chunks))[places + 1] - self.starts[places]
            starts = np.cumsum(sizes) - sizes
            chunks = np.repeat(self.starts[places] - starts, sizes) + np.arange(sizes.sum())
            if about is not None:
                hopeful = about.may_be_best(chunks, starts, sizes)
                chunks, sizes = chunks[hopeful], np.add.reduceat(hopeful, starts, dtype=np.int64)
                starts = np.cumsum(sizes) - sizes
            found = np.maximum.reduceat(_products_of(self.chunks, chunks, query), starts)
            best[known] = found * self.chunk_shares[places] + _products_of(
                self.contexts, places, query
            )
        return best

    def wholes(self, rows: Keys) -> Matrix:
        """Return the mean direction of all chunks of some documents, unit length, by row.

        Every one of `rows` must have vectors.
        """
        places = np.searchsorted(self.document_rows, rows).tolist()
        sums = np.stack([self.chunks[slice(*self._part(at))].sum(axis=0) for at in places])
        wholes: Matrix = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return wholes

    def _part(self, place: int) -> tuple[int, int]:
        """Return where in `chunks` a document begins and ends."""
        after = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.chunks)
        return int(self.starts[place]), int(after)

    def best_line(self, query: NDArray[np.float32], document_row: int) -> int:
        """Return the line where a document's best chunk begins, 0 without vectors."""
        at = int(np.searchsorted(self.document_rows, document_row))
        if at >= len(self.document_rows) or self.document_rows[at] != document_row:
            return 0
        part = slice(*self._part(at))
        return int(self.lines[part][np.argmax(self.chunks[part] @ query)])


def _products(vectors: Matrix, queries: Matrix, wanted: Flags) -> Matrix:
    """Return the product of each query with each vector; blocks without a wanted one are left 0."""
    products = np.zeros((len(queries), len(vectors)), np.float32)
    whole = len(vectors) - len(vectors) % GROUP
    begins = range(0, whole, BLOCK)
    blocks = [at for at in begins if wanted[at : at + BLOCK].any()]

    def work(at: int) -> None:
        block = slice(at, min(at + BLOCK, whole))
        for row, query in enumerate(queries):
            np.dot(vectors[block], query, out=products[row, block])

    share(blocks, work, worth_from=SHARED_FROM)
    rest = np.arange(whole, len(vectors))
    for row, query in enumerate(queries):
        products[row, rest] = _products_of(vectors, rest, query)
    return products


def _products_of(vectors: Matrix, rows: Keys, query: NDArray[np.float32]) -> Matrix:
    """Return the products of some vectors, in whole groups.

    BLAS takes rows in groups and a rest otherwise: in groups, each has the bits a block gives it.
    """
    padded = np.resize(rows, len(rows) + -len(rows) % GROUP)
    products: Matrix = (vectors[padded] @ query)[: len(rows)]
    return products


def in_context(chunks: Matrix, starts: Keys, titles: Matrix) -> tuple[Matrix, NDArray[np.float32]]:
    """Return what whole document and title add to the best chunk, and the weight that has.

    `titles` has a row per document, zeros where there is no vector (yet); the others count more.
    """
    if not len(starts):
        return titles, np.zeros(0, np.float32)
    wholes = np.add.reduceat(chunks, starts, axis=0)
    wholes *= WHOLE_SHARE / np.maximum(np.linalg.norm(wholes, axis=1, keepdims=True), 1e-9)
    known = np.where(titles.any(axis=1), 1.0, CHUNK_SHARE + WHOLE_SHARE).astype(np.float32)
    wholes += TITLE_SHARE * titles
    wholes /= known[:, None]
    return wholes, (CHUNK_SHARE / known).astype(np.float32)


def quantized_in_context(
    chunks: Matrix, starts: Keys, contexts: Matrix, shares: NDArray[np.float32]
) -> QuantizedVectors:
    """Return by chunk what `Vectors.best_cosine` takes the best of, as codes."""
    made = QuantizedVectors.empty(*chunks.shape)
    documents = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chunks)))
    for begin in range(0, len(chunks), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        of = documents[part]
        made.put(begin, chunks[part] * shares[of, None] + contexts[of])
    return made
