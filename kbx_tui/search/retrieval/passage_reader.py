"""Reads the documents of one search and chooses their passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.lexical.bodies import Body
from kbx_tui.index.lexical.terms import term_of_stem
from kbx_tui.knowledge.languages import ENGLISH
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.query.query_vectors import QueryVectors
from kbx_tui.search.results.best_passage import NO_CHUNKS, LinesAndCosines, WantedWords
from kbx_tui.search.results.body_offsets import offsets_in_body
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.snippets import (
    READ_AT_MOST,
    make_snippet,
    passage_to_rerank,
    wanted_words,
)
from kbx_tui.search.results.word_matches import OffsetsOf


class _Source(NamedTuple):
    """What passages of a document are chosen from."""

    body: Body
    language: str
    cosines: LinesAndCosines
    offsets_of: OffsetsOf | None


class PassageReader:
    """Chooses passages of the documents of one Evidence."""

    def __init__(self, index: OpenIndex, evidence: Evidence, query_vectors: QueryVectors) -> None:
        self._generation, self._reader = index.generation(), index.reader
        self._evidence, self._query_vectors = evidence, query_vectors
        self._wanted: dict[str, WantedWords] = {}

    def snippets(self, rows: Sequence[int]) -> list[Snippet]:
        """Return the best passage of some documents, in the order of `rows`."""
        query = self._evidence.document_query
        return [
            make_snippet(
                *source.body,
                query,
                wanted=self._wanted_words(source.language),
                cosines=source.cosines,
                language=source.language,
                offsets_of=source.offsets_of,
            )
            for source in self._sources(rows)
        ]

    def passages_to_rerank(self, rows: Sequence[int]) -> list[str]:
        """Return what a reranker reads of some documents, in the order of `rows`."""
        evidence = self._evidence
        return [
            passage_to_rerank(
                evidence.titles[row],
                *source.body,
                evidence.document_query,
                self._wanted_words(source.language),
                source.cosines,
                source.language,
                source.offsets_of,
            )
            for row, source in zip(rows, self._sources(rows), strict=True)
        ]

    def _sources(self, rows: Sequence[int]) -> Iterator[_Source]:
        snapshot, words = self._generation.snapshot, self._generation.words
        paths = [self._evidence.paths[row] for row in rows]
        bodies = self._generation.bodies.read(paths, self._reader)
        base_rows = [snapshot.row_of.get(path, -1) for path in paths]
        offsets = words.offsets(base_rows)
        for row, body, text in zip(base_rows, bodies, offsets, strict=True):
            if row < 0:
                yield _Source(body, ENGLISH, NO_CHUNKS, None)
                continue
            language = words.language_of(row)
            known = text if language == ENGLISH else None
            offsets_of = offsets_in_body(known, body[0], read_at_most=READ_AT_MOST)
            yield _Source(body, language, self._cosines(row), offsets_of)

    def _cosines(self, row: int) -> LinesAndCosines:
        """Return lines and cosines of the chunks of a document; none where meaning does not count.

        It does not in a fast search, nor with a query that was never embedded.
        """
        if self._vector is None:
            return NO_CHUNKS
        return self._generation.chunk_cosines(row, self._vector)

    @cached_property
    def _vector(self) -> Vector | None:
        query = self._evidence.document_query
        return None if self._evidence.fast or not query else self._query_vectors.known(query)

    def _wanted_words(self, language: str) -> WantedWords:
        if (wanted := self._wanted.get(language)) is None:
            idf = self._generation.words.idf
            query, typed = self._evidence.document_query, self._evidence.query
            wanted = self._wanted[language] = wanted_words(
                query, typed, lambda stem: idf(term_of_stem(stem, language)), language
            )
        return wanted
