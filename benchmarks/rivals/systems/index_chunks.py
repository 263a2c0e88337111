"""The chunks and vectors of our index, for systems that are compared with the same ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import lancedb
import numpy as np
from numpy.typing import NDArray

from kbx_tui import KnowledgeBase


class Chunks(NamedTuple):
    """A row per chunk: its document, what was embedded of it, its unit vector."""

    paths: list[str]
    texts: list[str]
    vectors: NDArray[np.float32]
    documents: dict[str, dict[str, Any]]
    """The row of each document, by path: title, body, attendees, kind ..."""


def read_chunks(folder: Path) -> Chunks:
    """Index a folder and read its chunks back."""
    with KnowledgeBase(folder) as kb:
        kb.index()
    tables = lancedb.connect(folder / ".kbx" / "index")

    def rows(name: str) -> list[dict[str, Any]]:
        read: list[dict[str, Any]] = tables.open_table(name).to_arrow().to_pylist()
        return read

    documents = {row["path"]: row for row in rows("documents")}
    vectors = {row["text_hash"]: row["vector"] for row in rows("vectors")}
    chunks = rows("chunks")
    paths = [chunk["path"] for chunk in chunks]
    texts = [
        f"{documents[path]['title']}\n{documents[path]['body'][chunk['start'] : chunk['end']]}"
        for path, chunk in zip(paths, chunks, strict=True)
    ]
    matrix = np.array([vectors[chunk["text_hash"]] for chunk in chunks], np.float32)
    return Chunks(paths, texts, matrix, documents)
