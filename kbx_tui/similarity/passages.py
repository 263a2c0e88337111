"""Passages of documents as something to compare with: the best sentence or line of each chunk.

A chunk of 150 words is never as alike a sentence as another sentence is. So the chunks nearest by
vector are taken apart, and their lines and sentences compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.fact_comparison import Found, best_first, the_nearest
from kbx_tui.similarity.matches import Nearest, SimilarityMatch
from kbx_tui.similarity.scoring.calibration import calibration_of
from kbx_tui.similarity.scoring.compared_words import normal_form, words_of
from kbx_tui.similarity.scoring.pair_score import similarity
from kbx_tui.similarity.scoring.thresholds import Thresholds

NEAREST_CHUNKS = 8
"""Chunks taken apart for one text."""
FEWEST_WORDS = 2
"""A passage of one word is a heading or a label."""

_MARKER = re.compile(r"^\s*(?:[-*+>]|\d{1,9}[.)]|#{1,6}|\|)\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Chunk:
    path: str
    date: str
    line: int
    text: str


def find_passages(
    text: str,
    vector: NDArray[np.float32],
    index: OpenIndex,
    embedder: Embedder,
    thresholds: Thresholds,
    *,
    within: Flags,
    names: dict[str, str],
    known: Collection[str] = (),
) -> Found:
    """Return the passages like a text in the documents `within`, shape (documents,).

    `names` tells whose page a path is; passages whose normal form is `known` are left out.
    """
    chunks = _nearest(index, embedder, vector, within)
    passages = [
        (chunk, line, passage)
        for chunk in chunks
        for line, passage in _passages(chunk.text, chunk.line)
        if normal_form(passage) not in known
    ]
    vectors = embedder.embed([passage for _, _, passage in passages])
    calibration = calibration_of(embedder.model)
    best: dict[_Chunk, SimilarityMatch] = {}
    nearest: list[Nearest] = []
    has_similar = False
    for (chunk, line, passage), cosine in zip(passages, (vectors @ vector).tolist(), strict=True):
        pair = similarity(text, passage, cosine, calibration)
        threshold = thresholds.of("chunk", passage)
        nearest.append(Nearest(passage, pair.score, threshold, "chunk", chunk.path, line))
        if not thresholds.reached(pair, threshold):
            continue
        has_similar |= pair.relation != "conflict"
        if chunk not in best or pair.score > best[chunk].score:
            best[chunk] = SimilarityMatch(
                text=passage,
                score=pair.score,
                fact_id=None,
                source_path=chunk.path,
                date=chunk.date,
                entity_name=names.get(chunk.path, ""),
                match_type="chunk",
                threshold=threshold,
                relation=pair.relation,
                cosine=pair.cosine,
                signals=pair.signals,
                conflicts=pair.conflicts,
                line=line,
                done=False,
            )
    return Found(best_first(list(best.values())), the_nearest(nearest), has_similar)


def _nearest(
    index: OpenIndex, embedder: Embedder, vector: NDArray[np.float32], within: Flags
) -> list[_Chunk]:
    loaded = index.loaded()
    vectors = loaded.vectors(model=embedder.model, dimension=embedder.dimension)
    sizes = np.diff(vectors.starts, append=len(vectors.chunks))
    documents = np.repeat(vectors.document_rows, sizes)
    rows = np.flatnonzero(within[documents])
    if not len(rows):
        return []
    cosines = vectors.chunks[rows] @ vector
    top = rows[np.argsort(-cosines, kind="stable")[:NEAREST_CHUNKS]]
    snapshot = loaded.snapshot
    wanted = {
        (snapshot.paths[int(documents[row])], int(vectors.lines[row])): snapshot.dates[
            int(documents[row])
        ]
        for row in top
    }
    listed = ", ".join(quoted(path) for path in sorted({path for path, _ in wanted}))
    columns = ["path", "line_start", "text"]
    found = index.reader.rows("chunks", columns, f"path IN ({listed})").to_pylist()
    return [
        _Chunk(row["path"], wanted[row["path"], row["line_start"]], row["line_start"], row["text"])
        for row in found
        if (row["path"], row["line_start"]) in wanted
    ]


def _passages(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield line and text of what stands in a chunk: list items as facts, prose by sentence."""
    for number, line in enumerate(text.split("\n"), first_line):
        bare = _MARKER.sub("", line)
        whole = read_fact_line(bare).text if bare != line else bare
        for passage in _SENTENCE.split(whole):
            passage = passage.strip()
            if len(words_of(passage).tokens) >= FEWEST_WORDS:
                yield number, passage
