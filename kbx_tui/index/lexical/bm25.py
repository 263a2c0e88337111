"""BM25 over the postings of one generation: those mapped from a file plus those of newer texts.

    score(text) = sum over query terms of  weight * idf * tf * (k1 + 1) / (tf + k1 * norm)
    idf = ln(1 + (N - n + .5) / (n + .5)),  norm = 1 - b + b * length / mean length

Source: Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative; k1 = 1.2, b = .75, as in LanceDB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.postings import Postings

K1, B = 1.2, 0.75

RARITIES_KEPT = 1000
"""Terms whose idf is kept: one search asks for that of its terms up to three times."""

Term = str | tuple[str, str]
"""A term, or a pair of terms of which the second directly follows the first."""

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PostingsSegment:
    """Some of an index's texts: their postings, and the row each text has in the generation."""

    postings: Postings
    rows: Rows
    """Row of each doc id, -1 for a text that is not part of the generation."""

    def lookup(self, term: Term) -> tuple[Rows, Scores]:
        """Return the rows of the texts that hold a term, and its frequency in each."""
        if isinstance(term, str):
            doc_ids, frequencies = self.postings.lookup(term)
        else:
            doc_ids, frequencies = self.postings.lookup_pair(*term)
        rows = self.rows[doc_ids]
        current = rows >= 0
        return rows[current], frequencies[current].astype(np.float64)


class Bm25Index:
    """All texts of one generation, scored by BM25. Read-only; `size` is the number of rows."""

    def __init__(
        self, segments: Sequence[PostingsSegment], size: int, *, in_statistics: Flags | None = None
    ) -> None:
        """Compute N, n and the mean length over the rows `in_statistics`; by default over all."""
        self._segments, self.size = tuple(segments), size
        if in_statistics is None or not in_statistics.any():
            in_statistics = np.ones(size, np.bool_)
        self.in_statistics = in_statistics
        """Rows that count in the statistics, shape (size,)."""
        self._count = int(np.count_nonzero(in_statistics))
        lengths = np.zeros(size)
        for segment in self._segments:
            current = segment.rows >= 0
            lengths[segment.rows[current]] = segment.postings.lengths[current]
        mean = lengths[in_statistics].mean() if lengths[in_statistics].any() else 1.0
        self._norms = K1 * (1.0 - B + B * lengths / mean)
        self._rarities: dict[Term, tuple[float, bool]] = {}
        """The idf of terms of the latest queries, and whether any text holds them."""

    def bm25(self, queries: Sequence[Mapping[Any, float]]) -> list[Scores]:
        """Return the score of every row for each query, shape (size,), 0 without a query term.

        A query maps each Term to its weight. A term that several queries share is looked up once.
        """
        scores = [np.zeros(self.size) for _ in queries]
        for term in dict.fromkeys(term for query in queries for term in query):
            rows, term_scores = self._score_term(term)
            for query, score in zip(queries, scores, strict=True):
                if weight := query.get(term):
                    score[rows] += weight * term_scores
        return scores

    def rows_holding(self, term: Term) -> Rows:
        """Return the rows of the texts that hold a term, in any order."""
        return self._lookup(term)[0]

    def idf(self, term: Term) -> float:
        """Return how rare a term is, above 0."""
        return self._rarity(term)[0]

    def idf_of_held(self, words: Iterable[str]) -> dict[str, float]:
        """Return the idf of those words, each a term, that some text holds."""
        rarities = {word: self._rarity(word) for word in words}
        return {word: idf for word, (idf, is_held) in rarities.items() if is_held}

    def _rarity(self, term: Term) -> tuple[float, bool]:
        return self._rarities.get(term) or self._note_rarity(term, self._lookup(term)[0])

    def _note_rarity(self, term: Term, rows: Rows) -> tuple[float, bool]:
        """Return the idf of a term that some rows hold, and whether any does; keep it."""
        holding = np.count_nonzero(self.in_statistics[rows])
        idf = float(np.log1p((self._count - holding + 0.5) / (holding + 0.5)))
        if len(self._rarities) >= RARITIES_KEPT:
            self._rarities.clear()
        rarity = self._rarities[term] = idf, len(rows) > 0
        return rarity

    def _score_term(self, term: Term) -> tuple[Rows, Scores]:
        """Return the rows that hold a term, and what it adds to the score of each at weight 1."""
        rows, frequencies = self._lookup(term)
        idf, _ = self._note_rarity(term, rows)
        return rows, idf * (K1 + 1.0) * frequencies / (frequencies + self._norms[rows])

    def _lookup(self, term: Term) -> tuple[Rows, Scores]:
        if len(self._segments) == 1:
            return self._segments[0].lookup(term)
        matches = [segment.lookup(term) for segment in self._segments]
        rows = [rows for rows, _ in matches] or [np.empty(0, np.int64)]
        frequencies = [frequencies for _, frequencies in matches] or [np.empty(0)]
        return np.concatenate(rows), np.concatenate(frequencies)
