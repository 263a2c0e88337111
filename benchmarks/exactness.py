"""Compare searches with an independent scan of every chunk and every posting in their scope.

    python -m benchmarks.exactness BASE [--count 1000] [--seed 1]

BASE is an indexed folder; nothing is written to it. For each query, which names an entity or none,
in the whole base, a folder or a glob, three things must be equal to the last bit:

- BM25 of every document in scope, and that computed here from the positions of words alone;
- the cosine of every document in scope, and that computed here from the exact vectors of all its
  chunks, in single precision;
- the ten best of a search, with their scores before they are rounded, and those of a ranking of
  all documents in scope.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import row
from benchmarks.searching import make_queries
from kbx_tui import KnowledgeBase
from kbx_tui.index.lexical.bm25 import K1, AnyOf, B, Bm25Index, Term
from kbx_tui.index.lexical.postings import Postings
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import FEEDBACK_WEIGHT, TITLE_BONUS, ComponentScores
from kbx_tui.search.query.query_terms import searched_terms
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Filters, SearchRequest
from kbx_tui.search.retrieval.document_pass import (
    TopKRequest,
    best_documents,
    moved_towards,
    titles_holding,
)
from kbx_tui.search.retrieval.query_dates import QueryDates
from kbx_tui.search.retrieval.retrieve import _Search

LIMIT = 10
GROUP = 1 << 16
"""Chunks multiplied at once, a multiple of 8: BLAS multiplies full groups of eight rows alike."""

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(slots=True)
class Equal:
    """How many queries were equal in each respect."""

    queries: int = 0
    bm25: int = 0
    cosines: int = 0
    best: int = 0
    results: int = 0
    """Results compared."""


class Words:
    """BM25 of all documents, from the positions of words in the mapped postings."""

    def __init__(self, words: Bm25Index) -> None:
        self._segments, self._size = words._segments, words.size
        self._counted, lengths = words.in_statistics, np.zeros(words.size)
        for segment in self._segments:
            is_current = segment.rows >= 0
            lengths[segment.rows[is_current]] = segment.postings.lengths[is_current]
        mean = lengths[self._counted].mean()
        self._norms = K1 * (1.0 - B + B * lengths / mean)

    def bm25(self, weights: Mapping[Term, float]) -> Numbers:
        """Return the score of every document."""
        scores = np.zeros(self._size)
        for term, weight in weights.items():
            frequencies = self._frequencies(term)
            holding = np.count_nonzero(self._counted & (frequencies > 0))
            all_counted = np.count_nonzero(self._counted)
            idf = float(np.log1p((all_counted - holding + 0.5) / (holding + 0.5)))
            scores += weight * (idf * (K1 + 1.0) * frequencies / (frequencies + self._norms))
        return scores

    def _frequencies(self, term: Term) -> Numbers:
        if isinstance(term, AnyOf):
            return sum(map(self._frequencies, term.terms), np.zeros(self._size))
        frequencies = np.zeros(self._size)
        for segment in self._segments:
            positions = _positions(segment.postings, term)
            doc_ids = np.searchsorted(segment.postings.text_starts, positions, side="right") - 1
            rows = segment.rows[doc_ids]
            frequencies += np.bincount(rows[rows >= 0], minlength=self._size)
        return frequencies


def _positions(postings: Postings, term: str | tuple[str, str]) -> NDArray[np.int64]:
    """Return the positions of a term; of two that follow each other, those of the second."""
    if isinstance(term, str):
        return postings.positions_of(postings.term_id(term)).astype(np.int64)
    first, second = (_positions(postings, each) for each in term)
    return np.intersect1d(first + 1, second, assume_unique=True)


def cosines(vectors: VectorMatrix, query: NDArray[np.float32], in_scope: Flags) -> Numbers:
    """Return the weighted cosine of every document in scope by its best chunk, NaN without one.

    `in_scope` and the result have a number for each document of the base.
    """
    found = np.full(len(in_scope), np.nan)
    for segment in vectors.segments:
        wanted = np.flatnonzero(in_scope[segment.document_rows])
        documents = segment.documents[wanted]
        if not len(documents):
            continue
        stored = segment.stored
        sizes = np.diff(stored.starts)[documents]
        starts = np.cumsum(sizes) - sizes
        chunks = np.repeat(stored.starts[documents] - starts, sizes) + np.arange(sizes.sum())
        best = np.maximum.reduceat(_products(stored.chunks, chunks, query), starts)
        best *= stored.chunk_weights[documents]
        best += _products(stored.contexts, documents, query)
        found[segment.document_rows[wanted]] = best
    return found


def _products(
    matrix: NDArray[np.float32], rows: NDArray[np.int64], query: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the product of some rows with a query; a rest is filled up to full groups of eight."""
    padded = np.resize(rows, len(rows) + -len(rows) % 8)
    products = [
        matrix[padded[begin : begin + GROUP]] @ query for begin in range(0, len(padded), GROUP)
    ]
    return np.concatenate(products)[: len(rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began, equal = time.process_time(), Equal()
    with KnowledgeBase(options.base) as kb:
        kb.warm()
        check = Check(kb)
        for query, path in cases(kb, options.count, options.seed):
            check.compare(query, path, equal)
            if not equal.queries % 100:
                print(equal, flush=True)
    row("queries", f"{equal.queries:,}, {time.process_time() - began:.0f} s of processor time")
    row("    BM25 of all documents in scope equal", f"{equal.bm25:,}")
    row("    cosines of all documents in scope equal", f"{equal.cosines:,}")
    row("    the ten best and their scores equal", f"{equal.best:,}, {equal.results:,} results")


def cases(kb: KnowledgeBase, count: int, seed: int) -> Iterator[tuple[str, str | None]]:
    """Yield queries, every other of which names an entity, with a path or none."""
    chance = random.Random(seed)
    named, topics = make_queries(kb, count)
    folders = sorted({path.rpartition("/")[0] for path in kb.documents.paths()})
    above = sorted({folder.rpartition("/")[0] for folder in folders} - {""})
    scopes: list[list[str] | None] = [
        None,
        folders,
        above,
        [f"{folder.rpartition('/')[0]}/*/*.md".lstrip("/") for folder in folders],
    ]
    for number in range(count):
        scope = scopes[number // 2 % len(scopes)]
        query = (named if number % 2 else topics)[number]
        yield query, chance.choice(scope) if scope else None


class Check:
    """Compares searches of one base, whose vectors and words are mapped as a whole."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._searcher = kb._searcher
        self._retriever = self._searcher._retriever()
        self._generation = self._retriever._index.generation()
        self._words = Words(self._generation.words)

    def compare(self, query: str, path: str | None, equal: Equal) -> None:
        """Search once by top-k retrieval and once in full, and compare both with a scan."""
        request = SearchRequest(query, path=path, exact=True)
        tuning = request.tuning(self._searcher.tuning(request.preset))
        best = rank(self._searcher.retrieve(request, TopKRequest(tuning, LIMIT)), tuning)
        full = self._searcher.retrieve(request)
        equal.queries += 1
        variants = {each.query: each for each in (full.as_typed, full.as_searched)}
        equal.bm25 += all(self._has_bm25(full, each, path) for each in variants.values())
        equal.cosines += all(self._has_cosines(full, each, path) for each in variants.values())
        found, expected = best.top(LIMIT), rank(full, tuning).top(LIMIT)
        equal.best += [(each.row, each.score) for each in found] == [
            (each.row, each.score) for each in expected
        ]
        equal.results += len(expected)

    def _has_bm25(self, full: Evidence, scores: ComponentScores, path: str | None) -> bool:
        return np.array_equal(scores.raw_lexical, self._bm25(full, scores)[self._rows(path)])

    def _has_cosines(self, full: Evidence, scores: ComponentScores, path: str | None) -> bool:
        vectors = self._retriever._vectors(scores.query)
        query = self._retriever._query_vectors.vector(scores.query)
        if scores is full.as_typed:  # the other variant is not moved
            eligible = np.where(self._generation.words.in_statistics, self._bm25(full, scores), 0.0)
            moved = best_documents(query, eligible, scores.lexical_weight, vectors)
            query = moved_towards(query, moved, vectors, FEEDBACK_WEIGHT)
        in_scope = np.zeros(len(self._generation.snapshot.paths), np.bool_)
        in_scope[self._rows(path)] = True
        expected = cosines(vectors, query, in_scope)
        return np.array_equal(scores.cosine, expected[self._rows(path)], equal_nan=True)

    def _rows(self, path: str | None) -> NDArray[np.int64]:
        path_filter = self._searcher._session.path_filter(path)
        rows: NDArray[np.int64] = self._generation.scope(path_filter, Filters()).rows
        return rows

    def _bm25(self, full: Evidence, scores: ComponentScores) -> Numbers:
        """Return BM25 of all documents; what titles add to it is that of the program."""
        words = self._generation.words
        terms = searched_terms(scores.query, words.languages, words.holds)
        bm25 = self._words.bm25(terms.weights)
        request = SearchRequest(scores.query)
        search = _Search(self._generation, self._retriever._query_vectors, request, None)
        search._dates = QueryDates(request.searched, request.filters)
        names_nobody = not search._find_names(scores.query).spans
        if scores is full.as_typed and names_nobody:
            for language, single in terms.in_titles.items():
                titles = self._generation.snapshot.titles
                rows = [row for row in range(len(titles)) if words.language_of(row) == language]
                for row, share in titles_holding(titles, rows if single else (), single, language):
                    bm25[row] += TITLE_BONUS * share
        return bm25


if __name__ == "__main__":
    main()
