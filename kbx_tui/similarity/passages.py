"""Compares a text with passages of documents: the best sentence or line of each near chunk.

A whole chunk is never as similar to a sentence as another sentence is, so the chunks nearest by
vector are split and their lines and sentences compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kbx_tui.embedding.embedder import Embedder, Vector
from kbx_tui.index.store import is_one_of
from kbx_tui.knowledge.fact_line import read_fact_line
from kbx_tui.search.evidence.scores import Flags
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.compared_words import analyse_words, normal_form
from kbx_tui.similarity.fact_comparison import Comparison, best_first, top_nearest
from kbx_tui.similarity.matches import SimilarityMatch, Thresholds
from kbx_tui.similarity.pair_score import calibration_of, similarity

NEAREST_CHUNKS = 8
FEWEST_WORDS = 2
"""Minimum number of words in a passage: a single word is a heading or a label."""

_MARKER = re.compile(r"^\s*(?:[-*+>]|\d{1,9}[.)]|#{1,6}|\|)\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class _Chunk:
    path: str
    date: str
    line: int
    text: str


def find_passages(
    text: str,
    vector: Vector,
    index: OpenIndex,
    embedder: Embedder,
    thresholds: Thresholds,
    *,
    within: Flags,
    names: dict[str, str],
    known: Collection[str] = (),
) -> Comparison:
    """Return the passages similar to a text in the documents `within`, shape (documents,).

    `names` maps a page's path to its entity; passages whose normal form is in `known` are skipped.
    """
    chunks = _nearest_chunks(index, embedder, vector, within)
    passages = [
        (chunk, line, passage)
        for chunk in chunks
        for line, passage in _split(chunk.text, chunk.line)
        if normal_form(passage) not in known
    ]
    vectors = embedder.embed([passage for _, _, passage in passages])
    calibration = calibration_of(embedder.model)
    best: dict[_Chunk, SimilarityMatch] = {}
    nearest: list[SimilarityMatch] = []
    for (chunk, line, passage), cosine in zip(passages, (vectors @ vector).tolist(), strict=True):
        match = SimilarityMatch(
            text=passage,
            pair=similarity(text, passage, cosine, calibration),
            threshold=thresholds.of("chunk", passage),
            match_type="chunk",
            source_path=chunk.path,
            line=line,
            entity_name=names.get(chunk.path, ""),
            date=chunk.date,
        )
        if not thresholds.is_misleading(match.pair, match.threshold):
            nearest.append(match)
        if thresholds.listed(match.pair, match.threshold):
            other = best.setdefault(chunk, match)
            if (match.is_similar, match.score) > (other.is_similar, other.score):
                best[chunk] = match
    return Comparison(best_first(list(best.values())), top_nearest(nearest))


def _nearest_chunks(
    index: OpenIndex, embedder: Embedder, vector: Vector, within: Flags
) -> list[_Chunk]:
    generation = index.generation()
    vectors = generation.vectors(model=embedder.model, dimension=embedder.dimension)
    nearest = vectors.nearest_chunks(vector, within, NEAREST_CHUNKS)
    if not nearest:
        return []
    snapshot = generation.snapshot
    date_of = {(snapshot.paths[row], line): snapshot.dates[row] for row, line in nearest}
    where = is_one_of("path", sorted({path for path, _ in date_of}))
    columns = ["path", "version", "line_start", "start", "end"]
    found = index.store.rows("chunks", columns, where).to_pylist()
    near = [
        row
        for row in found
        if (row["path"], row["line_start"]) in date_of
        and row["version"] == snapshot.versions[snapshot.row_of[row["path"]]]
    ]
    bodies = generation.bodies.read([row["path"] for row in near])
    return [
        _Chunk(
            row["path"],
            date_of[row["path"], row["line_start"]],
            row["line_start"],
            body[row["start"] : row["end"]],
        )
        for row, (body, _) in zip(near, bodies, strict=True)
    ]


def _split(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield (line, passage) of a chunk: list items as facts, prose by sentence."""
    for number, line in enumerate(text.split("\n"), first_line):
        bare = _MARKER.sub("", line)
        content = read_fact_line(bare).text if bare != line else bare
        for passage in _SENTENCE.split(content):
            passage = passage.strip()
            if len(analyse_words(passage).tokens) >= FEWEST_WORDS:
                yield number, passage
