"""Spherical k-means: directions that vectors gather around, and the nearest one of each. Pure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.int8_codes import BLOCK, Matrix
from kbx_tui.index.vectors.parallel_scan import parallel_scan

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
