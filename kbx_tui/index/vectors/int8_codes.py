"""Inner products of vectors and queries: exact, or of int8 codes with a bound on the error.

    x = s c + e,  q = t d + f       with scales s, t, codes c, d and rounding errors e, f
    |q.x - s t (c.d)| <= |e| |q| + |s c| |f| <= |e| |q| + (|x| + |e|) |f|    (Cauchy-Schwarz)

Comparing vectors takes as long as reading them from memory. Where only the nearest are wanted, all
are compared by their codes, a quarter of the bytes; then those that the bound does not rule out are
compared exactly. The result equals that of comparing all exactly.

Exact products are bit-identical wherever a vector lies: BLAS multiplies full groups of rows
differently from a remainder, so a remainder is padded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Flags, Matrix, Rows, Vector

MAX_CODE = 127
MAX_LENGTH = 1.001
"""Upper bound on the length of a vector: models return unit vectors, up to rounding."""
BLOCK = 8192
"""Vectors quantized or compared at a time, so that intermediate results fit the CPU's cache."""
COMPARED_EXACTLY = 4096
"""Number of vectors up to which `nearest` compares all exactly: reading their codes first saves no
time. Chosen by the experiment "few vectors" in docs/quality.md."""
PARALLEL_FROM = 3
SUMMATION_ERROR = 1e-5
"""Bound on how much the order of summation changes a product of a few thousand numbers."""


@dataclass(frozen=True)  # without slots, for the cached property
class QuantizedVectors:
    """Vectors of length at most 1 as int8 codes with one scale each (scalar quantization)."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    """Shape (n,): code times scale is the quantized number."""
    errors: NDArray[np.float32]
    """Shape (n,): length of the rounding error of each vector."""

    @classmethod
    def empty(cls, count: int, dimension: int) -> QuantizedVectors:
        """Return uninitialized storage for `count` vectors, to fill with `put`."""
        return cls(
            np.empty((count, dimension), np.int8),
            np.empty(count, np.float32),
            np.empty(count, np.float32),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, rows: Rows | slice) -> QuantizedVectors:
        return QuantizedVectors(self.codes[rows], self.scales[rows], self.errors[rows])

    def put(self, begin: int, vectors: Matrix) -> None:
        target = self.part(slice(begin, begin + len(vectors)))
        highest = np.abs(vectors).max(axis=1, initial=0.0)
        target.scales[:] = np.where(highest > 0.0, highest, 1.0) / np.float32(MAX_CODE)
        codes = np.rint(vectors / target.scales[:, None])
        target.errors[:] = np.linalg.norm(vectors - codes * target.scales[:, None], axis=1)
        target.codes[:] = np.nan_to_num(codes).astype(np.int8)

    @cached_property
    def max_error(self) -> float:
        """The largest of `errors`; cached, so the vectors must not change afterwards."""
        return float(self.errors.max())

    def products(
        self, query: Vector, begin: int = 0, end: int | None = None
    ) -> tuple[Matrix, float]:
        """Return the approximate product of `query` with each vector, and an error bound.

        The products have shape (n,), for the n vectors from `begin` up to `end`. The bound is
        infinite if a vector or the query holds NaN.
        """
        end = len(self) if end is None else end
        if begin >= end:
            return np.zeros(0, np.float32), 0.0
        quantized_query = quantize(query[None])
        products: Matrix = np.empty(end - begin, np.float32)

        def scan(first: int) -> None:
            block = slice(first, min(first + BLOCK, end))
            scaled = products[None, block.start - begin :][:, :BLOCK]
            scaled_dots(quantized_query, self.codes[block], self.scales[block], out=scaled)
            scaled *= quantized_query.scales

        parallel_scan(range(begin, end, BLOCK), scan, parallel_from=PARALLEL_FROM)
        error, query_error = self.max_error, float(quantized_query.errors[0])
        bound = float(np.linalg.norm(query)) * error + query_error * (MAX_LENGTH + error)
        return products, bound + SUMMATION_ERROR if np.isfinite(bound) else np.inf


def quantize(vectors: Matrix) -> QuantizedVectors:
    quantized = QuantizedVectors.empty(*vectors.shape)
    for begin in range(0, len(vectors), BLOCK):
        quantized.put(begin, vectors[begin : begin + BLOCK])
    return quantized


def scaled_dots(
    queries: QuantizedVectors,
    codes: NDArray[np.int8],
    scales: Vector,
    out: Matrix | None = None,
) -> Matrix:
    """Return the products of the queries' codes and `codes`, times `scales`.

    Shape (queries, codes).
    """
    import simsimd

    dots = simsimd.cdist(queries.codes, codes, "dot", out_dtype="float32")
    scaled: Matrix = np.multiply(np.asarray(dots), scales, out=out)
    return scaled


def nearest(
    vectors: Matrix,
    quantized: QuantizedVectors,
    query: Vector,
    count: int,
    within: NDArray[np.bool_] | None = None,
) -> Rows:
    """Return the rows of the `count` vectors with the highest products, in no particular order.

    `quantized` holds the codes of `vectors`, row by row; `within`, shape (n,), flags the rows to
    consider.
    """
    rows = np.arange(len(vectors)) if within is None else np.flatnonzero(within)
    if len(rows) <= count:
        return rows
    if len(vectors) <= COMPARED_EXACTLY:
        products = (vectors @ query)[rows]
        return rows[np.argpartition(products, -count)[-count:]]
    approximate, error_bound = quantized.products(query)
    if within is not None:
        approximate = approximate[rows]
    if np.isfinite(error_bound):
        lowest = np.partition(approximate, -count)[-count] - 2 * error_bound
        rows = rows[approximate >= lowest]
    exact = vectors[rows] @ query
    return rows[np.argpartition(exact, -count)[-count:]]


EXACT_BLOCK = 1024
"""Vectors per block: each block is compared with all queries before the next is read."""

GROUP = 8
"""Rows per group: BLAS computes a full group bit-identically at any place. 4 would suffice."""

EXACT_PARALLEL_FROM = 16


def products(vectors: Matrix, queries: Matrix, wanted: Flags) -> Matrix:
    """Return the product of each query with each vector, 0 in blocks without a wanted vector."""
    found = np.zeros((len(queries), len(vectors)), np.float32)
    grouped = len(vectors) - len(vectors) % GROUP
    blocks = [
        begin
        for begin in range(0, grouped, EXACT_BLOCK)
        if wanted[begin : begin + EXACT_BLOCK].any()
    ]

    def scan(begin: int) -> None:
        block = slice(begin, min(begin + EXACT_BLOCK, grouped))
        for row, query in enumerate(queries):
            np.dot(vectors[block], query, out=found[row, block])

    parallel_scan(blocks, scan, parallel_from=EXACT_PARALLEL_FROM)
    rest = np.arange(grouped, len(vectors))
    for row, query in enumerate(queries):
        found[row, rest] = products_of(vectors, rest, query)
    return found


def products_of(vectors: Matrix, rows: Rows, query: Vector) -> Matrix:
    """Return the products of some vectors, bit-identical to those of `products`."""
    padded = rows.take(np.arange(len(rows) + -len(rows) % GROUP), mode="wrap")
    found: Matrix = (vectors[padded] @ query)[: len(rows)]
    return found


Block = TypeVar("Block")


def parallel_scan(
    blocks: Sequence[Block], work: Callable[[Block], None], *, parallel_from: int
) -> None:
    """Call `work`, which should release the GIL, on every block.

    From `parallel_from` blocks on, two threads are used.
    """
    remaining = iter(blocks)  # shared: whichever thread is free takes the next block

    def run() -> None:
        for block in remaining:
            work(block)

    helper = _helper().submit(run) if len(blocks) >= parallel_from else None
    run()
    if helper is not None and not helper.cancel():
        helper.result()


@lru_cache(maxsize=1)
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "kbx-vectors")
