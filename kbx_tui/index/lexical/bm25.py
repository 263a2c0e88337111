"""BM25 of every text of one generation, over postings from a file and those of what is newer.

    score(text) = sum over terms of  times * idf * count * (k1 + 1) / (count + k1 * norm)
    idf = ln(1 + (N - n + .5) / (n + .5)),  norm = 1 - b + b * length / mean length

Source: Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative; k1 = 1.2, b = .75, as in LanceDB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.postings import Postings

K1, B = 1.2, 0.75

Term = str | tuple[str, str]
"""What is looked for: a term, or two of which the second stands right behind the first."""

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """Postings, and which row each of their texts is now."""

    postings: Postings
    rows: Rows
    """Row of each slot, -1 for a text that is not of this generation."""

    def found(self, term: Term) -> tuple[Rows, Scores]:
        """Return the rows of the texts of this generation that hold a term, and how often."""
        if isinstance(term, str):
            slots, counts = self.postings.texts_with(term)
        else:
            slots, counts = self.postings.texts_with_pair(*term)
        rows = self.rows[slots]
        alive = rows >= 0
        return rows[alive], counts[alive].astype(np.float64)


class WordIndex:
    """All texts of one generation by their terms. Read-only; `size` is how many rows there are."""

    def __init__(
        self, parts: Sequence[Part], size: int, *, typical: NDArray[np.bool_] | None = None
    ) -> None:
        """Take the statistics, N, n and the mean length, over the `typical` rows: all without."""
        self._parts, self.size = tuple(parts), size
        every = typical is None or not typical.any()
        self.typical = np.ones(size, np.bool_) if every or typical is None else typical
        """Rows that count in the statistics, shape (size,)."""
        self._count = int(np.count_nonzero(self.typical))
        lengths = np.zeros(size)
        for part in self._parts:
            alive = part.rows >= 0
            lengths[part.rows[alive]] = part.postings.lengths[alive]
        mean = lengths[self.typical].mean() if lengths[self.typical].any() else 1.0
        self._norms = K1 * (1.0 - B + B * lengths / mean)

    def bm25(self, queries: Sequence[Mapping[Any, float]]) -> list[Scores]:
        """Return BM25 of every row for each query, shape (size,), 0 where no term is.

        A query is its Terms, each with how many times it counts; what several queries share is
        computed once.
        """
        scores = [np.zeros(self.size) for _ in queries]
        for term in dict.fromkeys(term for query in queries for term in query):
            rows, weights = self._weights(*self._texts_with(term))
            for query, score in zip(queries, scores, strict=True):
                if times := query.get(term):
                    score[rows] += times * weights
        return scores

    def _weights(self, rows: Rows, counts: Scores) -> tuple[Rows, Scores]:
        """Return the rows and what one term adds to the score of each."""
        holding = np.count_nonzero(self.typical[rows])
        idf = np.log1p((self._count - holding + 0.5) / (holding + 0.5))
        return rows, idf * (K1 + 1.0) * counts / (counts + self._norms[rows])

    def _texts_with(self, term: Term) -> tuple[Rows, Scores]:
        found = [part.found(term) for part in self._parts]
        if len(found) == 1:
            return found[0]
        rows, counts = zip(*found, strict=True) if found else ((), ())
        return np.concatenate(rows or [np.empty(0, np.int64)]), np.concatenate(
            counts or [np.empty(0)]
        )
