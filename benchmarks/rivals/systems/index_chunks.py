"""The chunks and vectors of our index, for systems that are compared with the same ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import lancedb
import numpy as np
import pyarrow as pa
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
    index = lancedb.connect(folder / ".kbx" / "index")

    def table(name: str) -> pa.Table:
        return index.open_table(name).to_arrow()

    documents = {row["path"]: row for row in table("documents").to_pylist()}
    embedded = table("vectors").combine_chunks()
    vectors = embedded["vector"].combine_chunks().flatten().to_numpy().reshape(len(embedded), -1)
    row_of = {text: row for row, text in enumerate(embedded["text_hash"].to_pylist())}
    chunks = table("chunks").to_pylist()
    paths = [chunk["path"] for chunk in chunks]
    texts = [
        f"{documents[path]['title']}\n{documents[path]['body'][chunk['start'] : chunk['end']]}"
        for path, chunk in zip(paths, chunks, strict=True)
    ]
    matrix = vectors[[row_of[chunk["text_hash"]] for chunk in chunks]].astype(np.float32)
    return Chunks(paths, texts, matrix, documents)
