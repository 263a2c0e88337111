"""The passages of results, read from their texts, and the turns of who is asked for.

What a passage is chosen by is in `results/snippets.py`, which turn answers in `speakers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.lexical.terms import term_of_stem
from kbx_tui.knowledge.languages import ENGLISH
from kbx_tui.search.evidence.evidence import AskedKind, AskedSpeaker, Evidence
from kbx_tui.search.evidence.scores import Flags, Scores, frozen, highest
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.results.snippets import (
    NO_CHUNKS,
    READ_AT_MOST,
    PassageSource,
    WantedWords,
    topic_stems,
    wanted_words,
)
from kbx_tui.search.results.text_words import OffsetsOf, offsets_in_body
from kbx_tui.search.retrieval.asked_detail import OPEN_ITEMS, property_line
from kbx_tui.search.retrieval.speakers import (
    TURNS_READ,
    UNSPOKEN,
    SpokenPassage,
    best_turn,
)


def passage_sources(
    generation: IndexGeneration, evidence: Evidence, rows: Sequence[int], vector: Vector | None
) -> Iterator[PassageSource]:
    """Yield from what the passages of some documents of `evidence` are chosen.

    `vector` is that of the query; None in a fast search, or if the query was never embedded.
    """
    query, words, row_of = evidence.document_query, generation.words, generation.snapshot.row_of

    @cache
    def wanted(language: str) -> WantedWords:
        def idf(stem: str) -> float:
            return words.idf(term_of_stem(stem, language))

        return wanted_words(query, evidence.query, idf, language)

    asked = evidence.asked_kind and evidence.asked_kind.speaker
    turns = AskedTurns(generation, asked) if asked else None
    paths = [evidence.paths[row] for row in rows]
    base_rows = [row_of.get(path, -1) for path in paths]
    details = [evidence.known_items.get(row, "") for row in rows]
    bodies, offsets = generation.bodies.read(paths), words.offsets(base_rows)
    for row, (body, line), known, what in zip(base_rows, bodies, offsets, details, strict=True):
        language = ENGLISH if row < 0 else words.language_of(row)
        cosines, offsets_of = NO_CHUNKS, None
        if row >= 0 and vector is not None:
            cosines = generation.chunk_cosines(row, vector)
        if row >= 0 and language == ENGLISH:
            offsets_of = offsets_in_body(known, body, read_at_most=READ_AT_MOST)
        spoken = turns.best(row, body, offsets_of) if turns is not None else None
        yield PassageSource(
            body=body,
            body_line=line,
            query=query,
            wanted=wanted(language),
            cosines=cosines,
            language=language,
            offsets_of=offsets_of,
            turn=spoken.turn if spoken is not None else None,
            is_for_news=evidence.asked_kind is not None and evidence.asked_kind.is_for_news,
            is_for_open_items=what.endswith(f" {OPEN_ITEMS}"),
            property=property_line(generation.snapshot.properties[row], what) if row >= 0 else "",
        )


class AskedTurns:
    """The turns of the speaker that a query asks for."""

    def __init__(self, generation: IndexGeneration, asked: AskedSpeaker) -> None:
        self._generation, self._asked = generation, asked
        labels: dict[int, frozenset[str]] = {}
        for name in asked.names:
            for row, keys in generation.speakers.labels(name).items():
                labels[row] = labels.get(row, frozenset()) | keys
        self.labels = labels
        self._weights: dict[str, Mapping[str, float]] = {}

    def weights(self, language: str) -> Mapping[str, float]:
        """Return the weights of the stems asked for that documents hold."""
        if language not in self._weights:
            stems = {
                term_of_stem(each, language): each
                for each in topic_stems(self._asked.topic, language)
            }
            held: Mapping[Any, float] = self._generation.words.idf_of_held(stems)
            self._weights[language] = {stems[term]: idf for term, idf in held.items()}
        return self._weights[language]

    def best(self, row: int, body: str, offsets_of: OffsetsOf | None) -> SpokenPassage | None:
        if not (labels := self.labels.get(row)):
            return None
        generation, text = self._generation, body[:READ_AT_MOST]
        language = generation.words.language_of(row)
        turns, words = generation.speakers.turns(row, text), self.weights(language)
        always = self._asked.by_filter
        return best_turn(text, turns, labels, words, language, offsets_of, always=always)

    def kind(self, flags: Flags, bm25: Scores) -> AskedKind:
        """Return how much each document of the base answers, those flagged in scope by a turn."""
        asked, generation, speaks = self._asked, self._generation, np.zeros(len(flags), np.bool_)
        speaks[list(self.labels)] = True
        factors = np.full(len(flags), UNSPOKEN)
        rows = highest(bm25, np.flatnonzero(speaks & flags & (bm25 > 0.0)), TURNS_READ).tolist()
        bodies = generation.bodies.read([generation.snapshot.paths[row] for row in rows])
        offsets = generation.words.offsets(rows)
        for row, (body, _), known in zip(rows, bodies, offsets, strict=True):
            is_english = generation.words.language_of(row) == ENGLISH
            found = offsets_in_body(known, body, read_at_most=READ_AT_MOST) if is_english else None
            if (passage := self.best(row, body, found)) is not None:
                factors[row] += (1.0 - UNSPOKEN) * passage.answered
        return AskedKind(f"what {asked.shown} says", frozen(factors), asked, frozen(speaks))
