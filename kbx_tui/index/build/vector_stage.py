"""Last stage of a build: chunks, and a vector for every text that has none yet.

Vectors are keyed by the hash of their text. A run that dies between two batches loses only the
batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.index import rows, schema
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.chunk_texts import CHUNK_TEXT_COLUMNS, read_chunk_texts
from kbx_tui.index.document_rows import chunk_rows
from kbx_tui.index.entities.load_entities import stored_entities
from kbx_tui.index.store import Store
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.index.where_clause import is_one_of
from kbx_tui.knowledge.chunking.chunker import split_documents
from kbx_tui.knowledge.facts.strip_subject import strip_subject

DOCUMENTS_PER_BATCH = 500
FIRST_BATCH, TEXTS_PER_BATCH = 64, 512
"""Texts in the first commit, and at most in any other; sorted by length to reduce padding."""
FEW_TEXTS = 1000
"""Texts up to which listing their hashes is faster than reading those of all vectors."""
TEXTS_PER_STEP = 32
"""Texts embedded between two progress reports."""


def write_chunks(
    store: Store, embedder: Embedder, meter: ProgressMeter, only: Collection[str] | None = None
) -> bool:
    """Split documents that have no chunks of their version; False when cancelled.

    With `only`, just the documents at these paths.
    """
    where = None if only is None else is_one_of("path", only)
    path_of = store.mapping("documents", "version", "path", where)
    chunked = set(store.rows("chunks", ["version"], where)["version"].unique().to_pylist())
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
        new_rows = [
            row
            for document, chunks in zip(parsed, chunks_of, strict=True)
            for row in chunk_rows(document, chunks)
        ]
        store.append("chunks", new_rows)
        meter.report(start + len(batch))
    store.delete("chunks", "version", chunked - path_of.keys())
    return True


def write_vectors(
    store: Store,
    embedder: Embedder,
    meter: ProgressMeter,
    only: Collection[str] | None = None,
    *,
    step: int = TEXTS_PER_STEP,
) -> tuple[int, int, bool]:
    """Embed every text that has no vector, `step` at a time, and delete vectors of deleted texts.

    With `only`, embeds the texts of the files at these paths and deletes nothing. Returns how many
    texts were embedded, how many had a vector, and False when cancelled.
    """
    table_of = _texts_to_embed(store, only)
    few = only is not None and len(table_of) <= FEW_TEXTS
    of_these = is_one_of("text_hash", table_of) if few else None
    embedded = set(store.rows("vectors", ["text_hash"], of_these)["text_hash"].to_pylist())
    missing = [text_hash for text_hash in table_of if text_hash not in embedded]
    reused, count = len(table_of) - len(missing), 0
    meter.begin("vectors", len(missing))
    start = 0
    while start < len(missing):  # the first commits are small: vectors help within seconds
        batch = missing[start : start + min(TEXTS_PER_BATCH, max(FIRST_BATCH, start))]
        texts = _read_texts(store, {text_hash: table_of[text_hash] for text_hash in batch})
        by_length = sorted(texts.items(), key=lambda item: -len(item[1]))
        vectors: list[Vectors] = []
        for offset in range(0, len(by_length), step):
            if meter.cancelled():
                break
            some = [text for _, text in by_length[offset : offset + step]]
            vectors.append(embedder.embed(some))
            count += len(some)
            meter.report(start + offset + len(some))
        _add_vectors(store, [text_hash for text_hash, _ in by_length], vectors)
        if len(vectors) * step < len(by_length):
            return count, reused, False
        start += len(batch)
    if only is None:
        store.delete("vectors", "text_hash", embedded - table_of.keys())
    return count, reused, True


def _texts_to_embed(store: Store, only: Collection[str] | None = None) -> dict[str, str]:
    """Return the table of each distinct text by its hash, in the order to embed them.

    Entities, facts and titles come first, then chunks, newest document first. With `only`, these
    are the texts of the files at some paths.
    """
    where = None if only is None else is_one_of("path", only)
    table_of: dict[str, str] = {}
    for name in ("entities", "facts"):
        for text_hash in store.rows(name, ["text_hash"], where)["text_hash"].to_pylist():
            table_of.setdefault(text_hash, name)
    documents = store.rows("documents", ["path", "title", "date"], where)
    for title in documents["title"].to_pylist():
        if title.strip():
            table_of.setdefault(schema.text_hash(title), "documents")
    dates = dict(zip(documents["path"].to_pylist(), documents["date"].to_pylist(), strict=True))
    chunks = store.rows("chunks", ["path", "text_hash"], where)
    pairs = zip(chunks["path"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True)
    for _, text_hash in sorted(pairs, key=lambda pair: dates.get(pair[0], ""), reverse=True):
        table_of.setdefault(text_hash, "chunks")
    return table_of


def _read_texts(store: Store, table_of: dict[str, str]) -> dict[str, str]:
    """Return the texts by their hashes, read from the table given for each hash."""
    texts: dict[str, str] = {}
    hashes_of: dict[str, list[str]] = defaultdict(list)
    for text_hash, name in table_of.items():
        hashes_of[name].append(text_hash)
    if hashes := hashes_of["entities"]:
        where = is_one_of("text_hash", hashes)
        texts |= store.mapping("entities", "text_hash", "profile", where)
    if hashes := hashes_of["facts"]:
        texts |= _fact_texts(store, is_one_of("text_hash", hashes))
    if hashes := hashes_of["chunks"]:
        texts |= _chunk_texts(store, is_one_of("text_hash", hashes))
    if "documents" in hashes_of:
        titles = {schema.text_hash(title): title for title in store.column("documents", "title")}
        texts |= {key: titles[key] for key in titles if table_of.get(key) == "documents"}
    return texts


def _chunk_texts(store: Store, where: str) -> dict[str, str]:
    """Return the texts of chunks by their hashes."""
    chunks = store.rows("chunks", CHUNK_TEXT_COLUMNS, where).to_pylist()
    texts = zip(chunks, read_chunk_texts(store, chunks), strict=True)
    return {chunk["text_hash"]: text for chunk, text in texts if text is not None}


def _fact_texts(store: Store, where: str) -> dict[str, str]:
    """Return the texts of facts by their hashes, without the names of their entities."""
    table = store.rows("facts", ["text_hash", "text", "entity_id"], where)
    entities = {entity.id: entity for entity in stored_entities(store)}
    return {
        row["text_hash"]: strip_subject(row["text"], entities.get(row["entity_id"]))
        for row in table.to_pylist()
    }


def _add_vectors(store: Store, hashes: list[str], batches: Sequence[Vectors]) -> None:
    """Store vectors, given in batches, under the first of `hashes`, in order."""
    import numpy as np
    import pyarrow as pa

    if not batches:
        return
    vectors = np.concatenate(batches)
    count, dimension = vectors.shape
    flat = pa.array(vectors.astype(np.float16).reshape(-1))
    table = pa.table(
        [pa.array(hashes[:count]), pa.FixedSizeListArray.from_arrays(flat, dimension)],
        schema=schema.vectors_schema(dimension),
    )
    with translate_errors("write vectors", store.uri):
        store.table("vectors").add(table)
