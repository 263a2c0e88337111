"""Approximate search by meaning: an inverted file (IVF) over int8 codes, for very large bases.

Centroids are directions that the vectors of chunks cluster around; each chunk is in the list of its
nearest centroid. A search compares its query with the centroids, then with the codes in the lists
of the best centroids. Codes are stored list by list, so that each list is one read. The lists are
built in bounded memory from vectors.bin, and their recall is measured.

Source: Sivic & Zisserman 2003, "Video Google"; for vector search, Jégou, Douze & Schmid 2011,
https://doi.org/10.1109/TPAMI.2010.57.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import ArrayWriter
from kbx_tui.index.arrays import Flags, Ints, Matrix, Rows, Vector
from kbx_tui.index.derived_files import DerivedFile
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.stored_vectors import (
    BLOCK,
    QuantizedVectors,
    StoredVectors,
    parallel_scan,
    quantize,
    scaled_dots,
    vectors_file,
)

EXACT_CHUNKS = 1_000_000
"""Number of chunks in scope up to which a search compares all of them: reading that many codes is a
small part of the time that a search may take (docs/scale.md)."""

ENTRIES_PER_DOCUMENT = 4
"""Chunks taken per document wanted: several of the best often belong to one document."""


@dataclass(frozen=True, slots=True)
class VectorLists:
    """The arrays of vectors-ivf.bin. Read-only.

    The lists are only used with the vectors.bin that they were made from.
    """

    source: NDArray[np.uint32]
    """Digest (CRC-32) of `StoredVectors.code_scales`, shape (1,)."""
    centroids: Matrix
    """Unit vectors, shape (lists, dimension)."""
    starts: Rows
    """Where each list starts and the last one ends, shape (lists + 1,)."""
    documents: Ints
    """The document of each chunk, list by list, as an index into `StoredVectors.starts`."""
    codes: NDArray[np.int8]
    """`StoredVectors.codes` in the order of the lists."""
    scales: Vector
    probes: Rows
    """Number of lists that a search of the whole base reads, shape (1,)."""
    recall: NDArray[np.float64]
    """Share of the ten best chunks found in `probes` lists, measured on a sample, shape (1,)."""

    def belong_to(self, code_scales: Vector) -> bool:
        same_number = len(self.scales) == len(code_scales)
        return same_number and int(self.source[0]) == source_of(code_scales)

    def lists_to_read(self, scope_share: float) -> int:
        """Return how many lists to read: more for a small scope, whose best chunks are spread."""
        return min(int(np.ceil(self.probes[0] / scope_share)), len(self.starts) - 1)

    def is_worth(self, scope_share: float) -> bool:
        """Return whether reading the lists is clearly faster than comparing all chunks in scope."""
        read = self.lists_to_read(scope_share) / (len(self.starts) - 1)
        return read <= scope_share / 2

    def best_documents(
        self, query: Vector, wanted: Flags | None, count: int, scope_share: float
    ) -> Rows:
        """Return at most `count` documents with the best chunks in the lists read, best first.

        `wanted` flags the documents in scope; None: all are. Documents are given as indices into
        `StoredVectors.starts`.
        """
        best_first = np.argsort(-(self.centroids @ query), kind="stable")
        lists = best_first[: self.lists_to_read(scope_share)]
        begins, ends = self.starts[lists].tolist(), self.starts[lists + 1].tolist()
        products = self._products(query, begins, ends)
        documents = np.concatenate(
            [self.documents[begin:end] for begin, end in zip(begins, ends, strict=True)]
        )
        if wanted is not None:
            in_scope = wanted[documents]
            products, documents = products[in_scope], documents[in_scope]
        if len(products) > (most := ENTRIES_PER_DOCUMENT * count):
            best = np.argpartition(-products, most)[:most]
            products, documents = products[best], documents[best]
        ordered = documents[np.argsort(-products, kind="stable")]
        _, first = np.unique(ordered, return_index=True)
        return ordered[np.sort(first)[:count]].astype(np.int64)

    def _products(self, query: Vector, begins: list[int], ends: list[int]) -> Matrix:
        quantized = quantize(query[None])
        offsets = np.cumsum([0, *(end - begin for begin, end in zip(begins, ends, strict=True))])
        products: Matrix = np.empty(offsets[-1], np.float32)

        def scan(number: int) -> None:
            entries = slice(begins[number], ends[number])
            if entries.start < entries.stop:
                out = products[None, offsets[number] : offsets[number + 1]]
                scaled_dots(quantized, self.codes[entries], self.scales[entries], out)

        parallel_scan(range(len(begins)), scan, parallel_from=2)
        return products


LISTS = DerivedFile("vectors-ivf", "2", VectorLists)


def source_of(code_scales: Vector) -> int:
    return zlib.crc32(np.ascontiguousarray(code_scales).view(np.uint8).data)


RECALL_TARGET, RECALL_AT = 0.998, 10
"""Share of a sampled query's ten best chunks that must be in the lists read. Real questions need
more lists, so it is high. Chosen by the rows "share of the ten best chunks" in docs/quality.md."""
QUERIES = 400
QUERY_MIX = 0.6
"""Weight of one stored vector in a sampled query; the rest is another vector, as questions lie
between topics. Of the weights tried, this comes closest to real questions: the rows "share of the
ten best chunks" in docs/quality.md."""
SEED = 14


def refresh_vector_lists(store: Store, *, model: str, dimension: int) -> None:
    """Build vectors-ivf.bin if it is missing or outdated; remove it if the base needs none."""
    stored = vectors_file(model, dimension).map(store)
    if stored is None or len(stored.chunks) <= EXACT_CHUNKS:
        LISTS.remove(store)
    elif (present := LISTS.map(store)) is None or not present.belong_to(stored.code_scales):
        with LISTS.writer(store) as file:
            write_lists(file, stored)


def write_lists(file: ArrayWriter, stored: StoredVectors) -> None:
    random, count, vectors = np.random.default_rng(SEED), len(stored.chunks), stored.quantized()
    lists = max(round(count**0.5), 1)
    sample = np.sort(random.choice(count, min(count, SAMPLE_PER_CLUSTER * lists), replace=False))
    centroids = train(_decoded(vectors, sample), lists, random)

    def read(begin: int, end: int) -> Matrix:
        return vectors.codes[begin:end].astype(np.float32)  # scaling keeps the nearest

    used, nearest = np.unique(assign(count, read, centroids), return_inverse=True)
    centroids = centroids[used]  # reading an empty list would be a wasted probe
    order, sizes = np.argsort(nearest, kind="stable"), np.bincount(nearest)
    probes, recall = _measure(vectors, nearest, centroids, random)
    documents = np.arange(len(stored.contexts), dtype=np.int32)
    document_of = np.repeat(documents, np.diff(stored.starts))
    file.add("source", np.array([source_of(stored.code_scales)], np.uint32))
    file.add("centroids", centroids)
    file.add("starts", np.concatenate(([0], np.cumsum(sizes))))
    file.add("documents", document_of[order])
    codes = file.map("codes", np.int8, vectors.codes.shape)
    for begin in range(0, count, BLOCK):
        codes[begin : begin + BLOCK] = vectors.codes[order[begin : begin + BLOCK]]
    file.add("scales", stored.code_scales[order])
    file.add("probes", np.array([probes]))
    file.add("recall", np.array([recall]))


def _measure(
    vectors: QuantizedVectors, nearest: Rows, centroids: Matrix, random: np.random.Generator
) -> tuple[int, float]:
    """Return the number of lists to reach `RECALL_TARGET` on a sample, and the recall reached."""
    one, other = (_decoded(vectors, random.integers(0, len(vectors), QUERIES)) for _ in range(2))
    queries = QUERY_MIX * one + (1.0 - QUERY_MIX) * other
    queries /= np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-9)
    best = _best_chunks(vectors, queries.astype(np.float32))
    places = np.argsort(np.argsort(-(queries @ centroids.T), axis=1, kind="stable"), axis=1)
    needed = np.sort(np.take_along_axis(places, nearest[best], axis=1), axis=None) + 1
    probes = int(needed[int(np.ceil(RECALL_TARGET * len(needed))) - 1])
    return probes, float(np.count_nonzero(needed <= probes) / len(needed))


def _best_chunks(vectors: QuantizedVectors, queries: Matrix) -> Rows:
    quantized, at = quantize(queries), min(RECALL_AT, len(vectors))
    blocks = range(0, len(vectors), BLOCK)
    rows = np.zeros((len(queries), len(blocks) * at), np.int64)
    products = np.full(rows.shape, -np.inf, np.float32)

    def scan(number: int) -> None:
        block = slice(blocks[number], blocks[number] + BLOCK)
        found = scaled_dots(quantized, vectors.codes[block], vectors.scales[block])
        best = np.argpartition(-found, min(at, found.shape[1]) - 1, axis=1)[:, :at]
        columns = slice(number * at, number * at + best.shape[1])
        rows[:, columns] = best + blocks[number]
        products[:, columns] = np.take_along_axis(found, best, axis=1)

    parallel_scan(range(len(blocks)), scan, parallel_from=2)
    return np.take_along_axis(rows, np.argpartition(-products, at - 1, axis=1)[:, :at], axis=1)


def _decoded(vectors: QuantizedVectors, rows: Rows) -> Matrix:
    decoded: Matrix = vectors.codes[rows].astype(np.float32) * vectors.scales[rows, None]
    return decoded


SAMPLE_PER_CLUSTER = 40
"""Average number of training vectors per centroid; more hardly change the result."""
ROUNDS = 6
"""Iterations of assigning the sample and moving the centroids (k-means)."""


def train(sample: Matrix, count: int, random: np.random.Generator) -> Matrix:
    """Return `count` centroids of unit length, trained on a sample of at least `count` vectors."""
    centroids = _unit(sample[random.choice(len(sample), count, replace=False)])
    for _ in range(ROUNDS):
        nearest = assign(len(sample), lambda begin, end: sample[begin:end], centroids)
        sizes, order = np.bincount(nearest, minlength=count), np.argsort(nearest, kind="stable")
        used = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[used]
        centroids = sample[random.choice(len(sample), count, replace=False)]  # reseeds empty ones
        centroids[used] = np.add.reduceat(sample[order], starts, axis=0)
        centroids = _unit(centroids)
    return centroids


def assign(count: int, read: Callable[[int, int], Matrix], centroids: Matrix) -> Rows:
    """Return the nearest centroid of each of `count` vectors, read block by block."""
    nearest, transposed = np.empty(count, np.int64), np.ascontiguousarray(centroids.T)

    def scan(begin: int) -> None:
        end = min(begin + BLOCK, count)
        nearest[begin:end] = (read(begin, end) @ transposed).argmax(axis=1)

    parallel_scan(range(0, count, BLOCK), scan, parallel_from=2)
    return nearest


def _unit(vectors: NDArray[np.float32]) -> Matrix:
    unit: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
