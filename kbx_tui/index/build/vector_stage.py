"""Last stage of a build: chunks, and a vector for every text that has none yet.

Vectors are keyed by the hash of their text. A run that dies between two batches loses only the
batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.index import rows, schema
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.index.where_clause import is_one_of
from kbx_tui.knowledge.chunking.chunker import split_documents

DOCUMENTS_PER_BATCH = 500
FIRST_BATCH, TEXTS_PER_BATCH = 64, 512
"""Texts in the first commit, and at most in any other; sorted by length to reduce padding."""
TEXTS_PER_STEP = 32
"""Texts embedded between two progress reports."""


def write_chunks(store: Store, embedder: Embedder, meter: ProgressMeter) -> bool:
    """Split documents that have no chunks of their version; False when cancelled."""
    path_of = store.mapping("documents", "version", "path")
    chunked = set(store.rows("chunks", ["version"])["version"].unique().to_pylist())
    missing = sorted(path for version, path in path_of.items() if version not in chunked)
    meter.begin("chunks", len(missing))
    for start in range(0, len(missing), DOCUMENTS_PER_BATCH):
        if meter.cancelled():
            return False
        batch = missing[start : start + DOCUMENTS_PER_BATCH]
        unsplit = store.rows("documents", rows.DOCUMENT_COLUMNS, is_one_of("path", batch))
        parsed = sorted(map(rows.document_from_row, unsplit.to_pylist()), key=lambda d: d.path)
        max_tokens = embedder.max_tokens - 2
        chunks_of = split_documents(parsed, embedder.count_tokens, max_tokens=max_tokens)
        chunk_rows = [
            rows.chunk_row(document, chunk)
            for document, chunks in zip(parsed, chunks_of, strict=True)
            for chunk in chunks
        ]
        store.append("chunks", chunk_rows)
        meter.report(start + len(batch))
    store.delete("chunks", "version", chunked - path_of.keys())
    return True


def write_vectors(store: Store, embedder: Embedder, meter: ProgressMeter) -> tuple[int, int, bool]:
    """Embed every text that has no vector, and delete the vectors of deleted texts.

    Returns how many texts were embedded, how many had a vector, and False when cancelled.
    """
    table_of = _texts_to_embed(store)
    embedded = set(store.column("vectors", "text_hash"))
    missing = [text_hash for text_hash in table_of if text_hash not in embedded]
    reused, count = len(table_of) - len(missing), 0
    meter.begin("vectors", len(missing))
    start = 0
    while start < len(missing):  # the first commits are small: vectors help within seconds
        batch = missing[start : start + min(TEXTS_PER_BATCH, max(FIRST_BATCH, start))]
        texts = _read_texts(store, {text_hash: table_of[text_hash] for text_hash in batch})
        by_length = sorted(texts.items(), key=lambda item: -len(item[1]))
        vectors: list[Vectors] = []
        for offset in range(0, len(by_length), TEXTS_PER_STEP):
            if meter.cancelled():
                break
            step = [text for _, text in by_length[offset : offset + TEXTS_PER_STEP]]
            vectors.append(embedder.embed(step))
            count += len(step)
            meter.report(start + offset + len(step))
        _add_vectors(store, [text_hash for text_hash, _ in by_length], vectors)
        if len(vectors) * TEXTS_PER_STEP < len(by_length):
            return count, reused, False
        start += len(batch)
    store.delete("vectors", "text_hash", embedded - table_of.keys())
    return count, reused, True


def _texts_to_embed(store: Store) -> dict[str, str]:
    """Return the table of each distinct text by its hash, in the order to embed them.

    Entities, facts and titles come first, then chunks, newest document first.
    """
    table_of: dict[str, str] = {}
    for name in ("entities", "facts"):
        for text_hash in store.column(name, "text_hash"):
            table_of.setdefault(text_hash, name)
    for title in store.column("documents", "title"):
        if title.strip():
            table_of.setdefault(schema.text_hash(title), "documents")
    dates = store.mapping("documents", "path", "date")
    chunks = store.rows("chunks", ["path", "text_hash"])
    pairs = zip(chunks["path"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True)
    for _, text_hash in sorted(pairs, key=lambda pair: dates.get(pair[0], ""), reverse=True):
        table_of.setdefault(text_hash, "chunks")
    return table_of


def _read_texts(store: Store, table_of: dict[str, str]) -> dict[str, str]:
    """Return the texts by their hashes, read from the table given for each hash."""
    texts: dict[str, str] = {}
    for name, column in (("entities", "profile"), ("facts", "text"), ("chunks", "text")):
        hashes = [text_hash for text_hash, source in table_of.items() if source == name]
        if hashes:
            texts |= store.mapping(name, "text_hash", column, is_one_of("text_hash", hashes))
    if "documents" in table_of.values():
        titles = {schema.text_hash(title): title for title in store.column("documents", "title")}
        texts |= {key: titles[key] for key in titles if table_of.get(key) == "documents"}
    return texts


def _add_vectors(store: Store, hashes: list[str], batches: Sequence[Vectors]) -> None:
    """Store vectors, given in batches, under the first of `hashes`, in order."""
    import numpy as np
    import pyarrow as pa

    if not batches:
        return
    vectors = np.concatenate(batches)
    count, dimension = vectors.shape
    flat = pa.array(vectors.reshape(-1), pa.float32())
    table = pa.table(
        [pa.array(hashes[:count]), pa.FixedSizeListArray.from_arrays(flat, dimension)],
        schema=schema.vectors_schema(dimension),
    )
    with translate_errors("write vectors", store.uri):
        store.table("vectors").add(table)
