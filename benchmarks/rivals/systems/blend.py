"""The thirty lines that are to be beaten: BM25 and cosine, `.7 b / (b + 5) + .3 c`.

Documents are searched with their attendees, and with what the pages of these people say (aliases,
roles, teams), as text. Parts of one document ("part 2 of 5" in the title) gain from their
neighbours. No passes, no names, no thresholds.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rivals.systems.index_chunks import read_chunks
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.lexical.postings import terms_in

K1, B, HALF, WORDS, NEIGHBOUR = 1.2, 0.75, 5.0, 0.7, 0.5
DEPTH = 60
KINDS = ("meeting", "note")
_PART = re.compile(r"(.*)\bpart (\d+) of \d+", re.IGNORECASE)


def answer(folder: Path, queries: list[Any], mode: str) -> Iterator[list[str]]:
    chunks = read_chunks(folder)
    pages = {row["title"]: _page_text(row) for row in chunks.documents.values()}
    paths = sorted(path for path, row in chunks.documents.items() if row["kind"] in KINDS)
    texts = []
    for path in paths:
        row = chunks.documents[path]
        names = [name for name, _ in json.loads(row["attendees"])]
        known = (pages.get(name, "") for name in names)
        texts.append("\n".join([row["title"], row["body"], *names, *known]))
    counts = [Counter(terms_in(text)) for text in texts]
    lengths = np.array([count.total() for count in counts], float)
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    place = {path: number for number, path in enumerate(paths)}
    of_document = np.array([place.get(path, -1) for path in chunks.paths])
    neighbours = _neighbours([chunks.documents[path]["title"] for path in paths])
    embedder = open_embedder("bundled")
    yield []
    for query in queries:
        bm25 = np.zeros(len(paths))
        for term in set(terms_in(query["text"])):
            tf = np.array([count[term] for count in counts], float)
            df = np.count_nonzero(tf)
            bm25 += np.log1p((len(paths) - df + 0.5) / (df + 0.5)) * tf / (tf + norm)
        cosine = np.full(len(paths) + 1, -1.0)  # the last one takes chunks of pages
        np.maximum.at(cosine, of_document, chunks.vectors @ embedder.embed_query(query["text"]))
        score = WORDS * bm25 / (bm25 + HALF) + (1 - WORDS) * cosine[:-1]
        for part, other in neighbours:
            score[part] = max(score[part], NEIGHBOUR * score[other])
        yield [paths[row] for row in np.argsort(-score, kind="stable")[:DEPTH]]


def _page_text(row: dict[str, Any]) -> str:
    """Return what the page of an entity says of it besides its text."""
    values = json.loads(row["frontmatter"])
    told = [values.get(key) for key in ("role", "team", "members")]
    return " ".join([*row["aliases"], *(str(value) for value in told if value)])


def _neighbours(titles: list[str]) -> list[tuple[int, int]]:
    """Return pairs of rows that are adjacent parts of one document, both ways round."""
    parts = {
        (m[1], int(m[2])): row for row, title in enumerate(titles) if (m := _PART.match(title))
    }
    return [
        (row, parts[title, number + step])
        for (title, number), row in parts.items()
        for step in (-1, 1)
        if (title, number + step) in parts
    ]
