"""Building of vectors-ivf.bin from vectors.bin, in bounded memory, with its recall measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import ArrayWriter
from kbx_tui.index.derived_files import LISTS, vectors_file
from kbx_tui.index.snapshot import Rows
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.int8_codes import (
    BLOCK,
    Matrix,
    QuantizedVectors,
    parallel_scan,
    quantize,
)
from kbx_tui.index.vectors.vector_lists import source_of
from kbx_tui.index.vectors.vector_segment import StoredVectors
from kbx_tui.removal import remove_index_file

RECALL_TARGET, RECALL_AT = 0.998, 10
"""Share of the ten best chunks of a sampled query that the lists read hold. Real questions need
more lists, so it is high. Chosen by the rows "share of the ten best chunks" in docs/quality.md."""
QUERIES = 400
"""Sample of queries on which the recall is measured."""
QUERY_MIX = 0.6
"""A query of the sample is this much of one stored vector, the rest of another: it lies between
topics, as questions do. With those of docs/quality.md ("recall of the lists") that comes closest
to real questions."""
SEED = 14


def refresh_vector_lists(store: Store, *, model: str, dimension: int) -> None:
    """Build vectors-ivf.bin if it is missing or of another vectors.bin; remove it if not needed.

    Bases of at most `vector_lists.EXACT_CHUNKS` chunks are compared in full. Raises IndexFault.
    """
    stored = vectors_file(model, dimension).map(store)
    if stored is None or len(stored.code_scales) <= vector_lists.EXACT_CHUNKS:
        with translate_errors(f"delete {LISTS.name}", store.uri):
            remove_index_file(Path(store.uri), LISTS.name)
        return
    present = LISTS.map(store)
    if present is None or not present.belong_to(stored.code_scales):
        with LISTS.writer(store) as file:
            write_lists(file, stored, dimension)


def write_lists(file: ArrayWriter, stored: StoredVectors, dimension: int) -> None:
    """Write the lists of these vectors. Raises OSError."""
    random, count = np.random.default_rng(SEED), len(stored.code_scales)
    vectors = QuantizedVectors(
        stored.codes.reshape(count, dimension), stored.code_scales, stored.code_errors
    )
    lists = max(round(count**0.5), 1)
    sample = np.sort(random.choice(count, min(count, SAMPLE_PER_CLUSTER * lists), replace=False))
    centroids = train(_decoded(vectors, sample), lists, random)

    def read(begin: int, end: int) -> Matrix:
        return vectors.codes[begin:end].astype(np.float32)  # the scale moves no maximum

    used, nearest = np.unique(assign(count, read, centroids), return_inverse=True)
    centroids = centroids[used]  # a search that reads an empty list finds nothing in it
    order, sizes = np.argsort(nearest, kind="stable"), np.bincount(nearest)
    probes, recall = _measure(vectors, nearest, centroids, random)
    document_of = np.repeat(
        np.arange(len(stored.starts), dtype=np.int32), np.diff(stored.starts, append=count)
    )
    file.add("source", np.array([source_of(stored.code_scales)], np.uint32))
    file.add("centroids", centroids.reshape(-1))
    file.add("starts", np.concatenate(([0], np.cumsum(sizes))))
    file.add("documents", document_of[order])
    codes = file.begin("codes", np.int8, count * dimension)
    for begin in range(0, count, BLOCK):
        codes.append(vectors.codes[order[begin : begin + BLOCK]])
    file.add("scales", stored.code_scales[order])
    file.add("probes", np.array([probes]))
    file.add("recall", np.array([recall]))


def _measure(
    vectors: QuantizedVectors, nearest: Rows, centroids: Matrix, random: np.random.Generator
) -> tuple[int, float]:
    """Return how many lists hold `RECALL_TARGET` of the best chunks of a sample, and their share.

    The best chunks are those of a scan of all codes.
    """
    one, other = (_decoded(vectors, random.integers(0, len(vectors), QUERIES)) for _ in range(2))
    queries = QUERY_MIX * one + (1.0 - QUERY_MIX) * other
    queries /= np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-9)
    best = _best_chunks(vectors, queries.astype(np.float32))
    places = np.argsort(np.argsort(-(queries @ centroids.T), axis=1, kind="stable"), axis=1)
    needed = np.sort(np.take_along_axis(places, nearest[best], axis=1), axis=None) + 1
    probes = int(needed[int(np.ceil(RECALL_TARGET * len(needed))) - 1])
    return probes, float(np.count_nonzero(needed <= probes) / len(needed))


def _best_chunks(vectors: QuantizedVectors, queries: Matrix) -> Rows:
    """Return the rows of the `RECALL_AT` best chunks of each query, in no particular order."""
    import simsimd

    quantized, at = quantize(queries), min(RECALL_AT, len(vectors))
    blocks = range(0, len(vectors), BLOCK)
    rows = np.zeros((len(queries), len(blocks) * at), np.int64)
    products = np.full(rows.shape, -np.inf, np.float32)

    def scan(number: int) -> None:
        block = slice(blocks[number], blocks[number] + BLOCK)
        dots = simsimd.cdist(quantized.codes, vectors.codes[block], "dot", out_dtype="float32")
        found = np.asarray(dots) * vectors.scales[block]
        best = np.argpartition(-found, min(at, found.shape[1]) - 1, axis=1)[:, :at]
        columns = slice(number * at, number * at + best.shape[1])
        rows[:, columns] = best + blocks[number]
        products[:, columns] = np.take_along_axis(found, best, axis=1)

    parallel_scan(range(len(blocks)), scan, parallel_from=2)
    return np.take_along_axis(rows, np.argpartition(-products, at - 1, axis=1)[:, :at], axis=1)


def _decoded(vectors: QuantizedVectors, rows: Rows) -> Matrix:
    """Return some vectors as they are rounded."""
    decoded: Matrix = vectors.codes[rows].astype(np.float32) * vectors.scales[rows, None]
    return decoded


SAMPLE_PER_CLUSTER = 40
"""Vectors that each centroid is trained on, on average; more hardly change where it ends."""
ROUNDS = 6
"""Times that the sample is assigned and the centroids are moved."""


def train(sample: Matrix, count: int, random: np.random.Generator) -> Matrix:
    """Return `count` centroids of unit length for a sample of at least as many vectors."""
    centroids = _unit(sample[random.choice(len(sample), count, replace=False)])
    for _ in range(ROUNDS):
        nearest = assign(len(sample), lambda begin, end: sample[begin:end], centroids)
        sizes, order = np.bincount(nearest, minlength=count), np.argsort(nearest, kind="stable")
        used = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[used]
        centroids = sample[random.choice(len(sample), count, replace=False)]  # of empty ones
        centroids[used] = np.add.reduceat(sample[order], starts, axis=0)
        centroids = _unit(centroids)
    return centroids


def assign(count: int, read: Callable[[int, int], Matrix], centroids: Matrix) -> Rows:
    """Return the number of the centroid with the highest product for each of `count` vectors.

    `read` returns the vectors from one row to another; a block of them is in memory at a time.
    """
    nearest, transposed = np.empty(count, np.int64), np.ascontiguousarray(centroids.T)

    def scan(begin: int) -> None:
        end = min(begin + BLOCK, count)
        nearest[begin:end] = (read(begin, end) @ transposed).argmax(axis=1)

    parallel_scan(range(0, count, BLOCK), scan, parallel_from=2)
    return nearest


def _unit(vectors: NDArray[np.float32]) -> Matrix:
    unit: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
