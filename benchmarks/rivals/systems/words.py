"""BM25 over the raw files, frontmatter included: bm25s (Lucene's formula), English stems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEPTH = 60


def answer(folder: Path, queries: list[Any], mode: str) -> Iterator[list[str]]:
    import bm25s  # installed in this system's environment alone
    import Stemmer

    files = sorted(folder.glob("memory/**/*.md"))
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens([file.read_text("utf-8") for file in files]), show_progress=False)
    yield []
    for query in queries:
        found, scores = index.retrieve(
            tokens([query["text"]]), k=min(DEPTH, len(files)), show_progress=False
        )
        rows = [row for row, score in zip(found[0], scores[0], strict=True) if score > 0]
        yield [files[row].relative_to(folder).as_posix() for row in rows]
