"""Products of vectors with queries that have the same bits wherever a vector lies. Pure.

BLAS multiplies full groups of rows differently from a remainder, so a remainder is padded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.int8_codes import Matrix, Vector
from kbx_tui.index.vectors.parallel_scan import parallel_scan

Flags = NDArray[np.bool_]

BLOCK = 1024
"""Vectors compared with all queries before the next ones are read from memory."""

GROUP = 8
"""Rows per group: BLAS computes full groups bit-identically wherever they are. 4 would suffice."""

PARALLEL_FROM = 16
"""Number of blocks from which a second thread is used."""


def products(vectors: Matrix, queries: Matrix, wanted: Flags) -> Matrix:
    """Return the product of each query with each vector; blocks without a wanted one are left 0."""
    found = np.zeros((len(queries), len(vectors)), np.float32)
    grouped = len(vectors) - len(vectors) % GROUP
    blocks = [begin for begin in range(0, grouped, BLOCK) if wanted[begin : begin + BLOCK].any()]

    def scan(begin: int) -> None:
        block = slice(begin, min(begin + BLOCK, grouped))
        for row, query in enumerate(queries):
            np.dot(vectors[block], query, out=found[row, block])

    parallel_scan(blocks, scan, parallel_from=PARALLEL_FROM)
    rest = np.arange(grouped, len(vectors))
    for row, query in enumerate(queries):
        found[row, rest] = products_of(vectors, rest, query)
    return found


def products_of(vectors: Matrix, rows: Rows, query: Vector) -> Matrix:
    """Return the products of some vectors, bit-identical to those of `products`."""
    padded = np.resize(rows, len(rows) + -len(rows) % GROUP)
    found: Matrix = (vectors[padded] @ query)[: len(rows)]
    return found
