"""Vectors as int8 codes: a quarter of the bytes to read, and a bound on what a product can be.

    x = s c + e,  q = t d + f       with scales s, t, codes c, d and what rounding left, e, f
    |q.x - s t (c.d)| <= |e| |q| + |s c| |f| <= |e| |q| + (|x| + |e|) |f|    (Cauchy & Schwarz)

Reading vectors is what takes the time of a comparison. So all are compared by their codes first,
and exactly those alone that the bound leaves in question: the result is that of comparing all.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.vectors.parallel_scan import share

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
Rows = NDArray[np.int64]

HIGHEST = 127
LONGEST = 1.001
"""No vector is longer: those of models have length 1, up to rounding."""
AT_ONCE = 8192
"""Vectors rounded at once: what that needs for a moment fits the processor."""
SHARED_FROM = 3
"""Blocks of so many from which on a second thread helps."""
ARITHMETIC = 1e-5
"""What adding up some thousand products in another order may change, and more."""


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """Vectors of length at most 1, one scale each (scalar quantization)."""

    codes: NDArray[np.int8]
    """Shape (n, dimension)."""
    scales: NDArray[np.float32]
    """Shape (n,): code times scale is the rounded number."""
    errors: NDArray[np.float32]
    """Shape (n,): the length of what rounding took from each vector."""

    @classmethod
    def empty(cls, count: int, dimension: int) -> QuantizedVectors:
        """Return room for `count` vectors, to be filled with `put` or `copy`."""
        return cls(
            np.empty((count, dimension), np.int8),
            np.empty(count, np.float32),
            np.empty(count, np.float32),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, begin: int, end: int) -> QuantizedVectors:
        """Return a stretch of the vectors, without copying."""
        codes, scales, errors = (getattr(self, one.name)[begin:end] for one in fields(self))
        return QuantizedVectors(codes, scales, errors)

    def put(self, begin: int, vectors: Matrix) -> None:
        """Round `vectors` into the rows from `begin` on."""
        part = self.part(begin, begin + len(vectors))
        highest = np.abs(vectors).max(axis=1, initial=0.0)
        part.scales[:] = np.where(highest > 0.0, highest, 1.0) / np.float32(HIGHEST)
        codes = np.rint(vectors / part.scales[:, None])
        part.errors[:] = np.linalg.norm(vectors - codes * part.scales[:, None], axis=1)
        part.codes[:] = np.nan_to_num(codes).astype(np.int8)

    def copy(self, begin: int, other: QuantizedVectors) -> None:
        """Copy the rows of `other` to those from `begin` on."""
        part = self.part(begin, begin + len(other))
        part.codes[:], part.scales[:], part.errors[:] = other.codes, other.scales, other.errors

    def products(self, query: Vector) -> tuple[Matrix, float]:
        """Return about what the product of `query` with each vector is, shape (n,), and how far at
        most it is from that: infinitely where a number is not one.
        """
        if not len(self):
            return np.zeros(0, np.float32), 0.0
        import simsimd

        asked = quantize(query[None])
        found: Matrix = np.empty(len(self), np.float32)

        def work(begin: int) -> None:
            part = slice(begin, begin + AT_ONCE)
            codes = np.asarray(
                simsimd.cdist(asked.codes, self.codes[part], "dot", out_dtype="float32")
            )
            np.multiply(codes, self.scales[part], out=found[None, part])

        share(range(0, len(self), AT_ONCE), work, worth_from=SHARED_FROM)
        found *= asked.scales
        error = float(self.errors.max())
        slack = float(np.linalg.norm(query)) * error + float(asked.errors[0]) * (LONGEST + error)
        return found, slack + ARITHMETIC if np.isfinite(slack) else np.inf


def quantize(vectors: Matrix) -> QuantizedVectors:
    """Return vectors of shape (n, dimension) and length at most 1 as codes."""
    made = QuantizedVectors.empty(*vectors.shape)
    for begin in range(0, len(vectors), AT_ONCE):
        made.put(begin, vectors[begin : begin + AT_ONCE])
    return made


def nearest(
    vectors: Matrix,
    quantized: QuantizedVectors,
    query: Vector,
    count: int,
    within: NDArray[np.bool_] | None = None,
) -> Rows:
    """Return the rows of the `count` vectors with the highest products, in no order.

    `quantized` holds `vectors`, row by row; `within` has shape (n,) and lets them in.
    """
    rows = np.arange(len(vectors)) if within is None else np.flatnonzero(within)
    if len(rows) <= count:
        return rows
    about, slack = quantized.products(query)
    about = about[rows]
    if np.isfinite(slack):
        rows = rows[about >= np.partition(about, -count)[-count] - 2 * slack]
    exact = vectors[rows] @ query
    return rows[np.argpartition(exact, -count)[-count:]]
