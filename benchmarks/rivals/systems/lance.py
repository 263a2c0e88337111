"""LanceDB as its documentation shows it, over the chunks and vectors of our index.

Modes: hybrid (full-text index with its default English analyzer, and cosine, merged by reciprocal
rank), `fts`, `vectors`, `ivf` (hybrid with an approximate IVF_PQ index), and `oracle`: hybrid with
a filter on the attendees that the label means, set by hand: an upper bound, and no product.
Attendees are part of the text that is searched, so that it sees what we see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import FTS, IvfPq
from lancedb.rerankers import RRFReranker

from benchmarks.rivals.systems.index_chunks import Chunks, read_chunks
from kbx_tui.embedding.local import open_embedder

DEPTH = 60


def answer(folder: Path, queries: list[Any], mode: str) -> Iterator[list[str]]:
    chunks = read_chunks(folder)
    table = _make_table(folder, chunks, mode)
    embedder, merge = open_embedder("bundled"), RRFReranker()
    yield []
    for query in queries:
        vector = embedder.embed_query(query["text"])
        if mode == "fts":
            search = table.search(query["text"], query_type="fts")
        elif mode == "vectors":
            search = table.search(vector).distance_type("cosine")
        else:
            search = table.search(query_type="hybrid").vector(vector).text(query["text"])
            search = search.distance_type("cosine").rerank(merge)
        where = "kind IN ('meeting', 'note')"
        if mode == "oracle" and query["people"]:
            names = " AND ".join(
                f"array_has(people, '{name.replace(chr(39), chr(39) * 2)}')"
                for name in query["people"]
            )
            where += f" AND {names}"
        rows = search.where(where, prefilter=True).limit(DEPTH).to_list()
        yield list(dict.fromkeys(row["path"] for row in rows))


def _make_table(folder: Path, chunks: Chunks, mode: str) -> Any:
    people = {
        path: [name for name, _ in json.loads(row["attendees"])]
        for path, row in chunks.documents.items()
    }
    if mode == "oracle" and not any(people.values()):
        raise SystemExit("no note of this set names people in its frontmatter")
    rows = pa.table(
        {
            "path": chunks.paths,
            "kind": [chunks.documents[path]["kind"] for path in chunks.paths],
            "people": pa.array([people[path] for path in chunks.paths], pa.list_(pa.string())),
            "text": [
                "\n".join([text, *people[path]])
                for path, text in zip(chunks.paths, chunks.texts, strict=True)
            ],
            "vector": pa.FixedSizeListArray.from_arrays(
                pa.array(chunks.vectors.ravel()), chunks.vectors.shape[1]
            ),
        }
    )
    table = lancedb.connect(folder / "lance").create_table("chunks", rows)
    table.create_index("text", config=FTS())
    if mode == "ivf":
        table.create_index("vector", config=IvfPq(distance_type="cosine"))
    return table
