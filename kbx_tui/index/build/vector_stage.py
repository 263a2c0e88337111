"""Last stage of a build: chunks, and a vector for every text that has none yet.

Vectors are keyed by the hash of their text. A run that dies between two batches loses only the
batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from typing import Any

from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.errors import IndexFault
from kbx_tui.index import tables
from kbx_tui.index.build.document_stage import CHUNK_TEXT_COLUMNS, chunk_rows, read_chunk_texts
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.build.workers import Workers
from kbx_tui.index.load_snapshot import stored_entities
from kbx_tui.index.store import (
    INDEXED_BY_PATH,
    PATH_INDEX,
    Store,
    bytes_in,
    is_one_of,
    translate_errors,
)
from kbx_tui.knowledge.chunker import split_documents
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.removal import INDEX_TABLES

DOCUMENTS_PER_BATCH = 500
FIRST_BATCH, TEXTS_PER_BATCH = 64, 512
"""Texts in the first batch, and at most in any other; sorted by length to reduce padding."""
TEXTS_PER_READ = 8192
"""Texts read at once, at most: finding them reads whole columns."""
FEW_TEXTS = 1000
"""Texts up to which listing their hashes is faster than reading those of all vectors."""
COMMITS_PER_COMPACTION = 500
"""Commits of vectors after which their files are merged, as each commit lists all files again."""

Texts = dict[str, str]


def write_chunks(
    store: Store, workers: Workers, meter: ProgressMeter, only: Collection[str] | None = None
) -> bool:
    """Split documents, or `only` those at some paths, without chunks; False when cancelled."""
    where = None if only is None else is_one_of("path", only)
    path_of = store.mapping("documents", "version", "path", where)
    chunked = set(store.rows("chunks", ["version"], where)["version"].unique().to_pylist())
    missing = sorted(path for version, path in path_of.items() if version not in chunked)
    meter.begin("chunks", len(missing))
    count = 0
    for finished in workers.map(_split, _read_unsplit(store, missing, meter)):
        for documents, new_rows in finished:
            store.append("chunks", new_rows)
            count += len(documents)
        meter.report(count)
    if count < len(missing) and meter.cancelled():
        return False
    store.delete("chunks", "version", chunked - path_of.keys())
    return True


def _read_unsplit(
    store: Store, paths: list[str], meter: ProgressMeter
) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(paths), DOCUMENTS_PER_BATCH):
        if meter.cancelled():
            return
        batch = is_one_of("path", paths[start : start + DOCUMENTS_PER_BATCH])
        yield store.rows("documents", tables.DOCUMENT_COLUMNS, batch).to_pylist()


def _split(embedder: Embedder, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    parsed = sorted(map(tables.document_from_row, documents), key=lambda document: document.path)
    max_tokens = embedder.max_tokens - 2
    chunks_of = split_documents(parsed, embedder.count_tokens, max_tokens=max_tokens)
    return [
        row
        for document, chunks in zip(parsed, chunks_of, strict=True)
        for row in chunk_rows(document, chunks)
    ]


def write_vectors(
    store: Store, workers: Workers, meter: ProgressMeter, only: Collection[str] | None = None
) -> tuple[int, int, bool]:
    """Embed every text that has no vector, and delete vectors of deleted texts.

    With `only`, embeds the texts of the files at these paths and deletes nothing. Returns how many
    texts were embedded, how many had a vector, and False when cancelled.
    """
    table_of = _texts_to_embed(store, only)
    few = only is not None and len(table_of) <= FEW_TEXTS
    of_these = is_one_of("text_hash", table_of) if few else None
    embedded = set(store.rows("vectors", ["text_hash"], of_these)["text_hash"].to_pylist())
    missing = [text_hash for text_hash in table_of if text_hash not in embedded]
    reused = len(table_of) - len(missing)
    meter.begin("vectors", len(missing))
    texts = _read_missing(store, missing, table_of, workers.texts_per_task, meter)
    waiting, count, stored, commits = list[tuple[Texts, Vectors]](), 0, 0, 0
    for finished in workers.map(_embed, texts, ordered=False):
        waiting += finished
        count += sum(len(some) for some, _ in finished)
        # the first commits are small: vectors help within seconds
        if count - stored >= min(workers.texts_per_commit, max(FIRST_BATCH, stored)):
            _add_vectors(store, waiting)
            stored, commits = count, commits + 1
            waiting.clear()
            if commits % COMMITS_PER_COMPACTION == 0:
                compact(store, "vectors")
        meter.report(count)
    _add_vectors(store, waiting)
    if count < len(missing) and meter.cancelled():
        return count, reused, False
    if only is None:
        store.delete("vectors", "text_hash", embedded - table_of.keys())
    return count, reused, True


def _embed(embedder: Embedder, texts: Texts) -> Vectors:
    return embedder.embed(list(texts.values()))


def _read_missing(
    store: Store,
    missing: list[str],
    table_of: dict[str, str],
    texts_per_task: int,
    meter: ProgressMeter,
) -> Iterator[Texts]:
    read, start, end = Texts(), 0, 0
    while start < len(missing):
        batch = missing[start : start + min(TEXTS_PER_BATCH, max(FIRST_BATCH, start))]
        if start == end:
            end = min(start + min(TEXTS_PER_READ, max(TEXTS_PER_BATCH, start)), len(missing))
            ahead = missing[start:end]
            read = _read_texts(store, {text_hash: table_of[text_hash] for text_hash in ahead})
        texts = [(text_hash, read[text_hash]) for text_hash in batch if text_hash in read]
        by_length = sorted(texts, key=lambda item: -len(item[1]))
        for offset in range(0, len(by_length), texts_per_task):
            if meter.cancelled():
                return
            yield dict(by_length[offset : offset + texts_per_task])
        start += len(batch)


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
            table_of.setdefault(tables.text_hash(title), "documents")
    dates = dict(zip(documents["path"].to_pylist(), documents["date"].to_pylist(), strict=True))
    chunks = store.rows("chunks", ["path", "text_hash"], where)
    pairs = zip(chunks["path"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True)
    for _, text_hash in sorted(pairs, key=lambda pair: dates.get(pair[0], ""), reverse=True):
        table_of.setdefault(text_hash, "chunks")
    return table_of


def _read_texts(store: Store, table_of: dict[str, str]) -> dict[str, str]:
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
        titles = {tables.text_hash(title): title for title in store.column("documents", "title")}
        texts |= {key: titles[key] for key in titles if table_of.get(key) == "documents"}
    return texts


def _chunk_texts(store: Store, where: str) -> dict[str, str]:
    chunks = store.rows("chunks", CHUNK_TEXT_COLUMNS, where).to_pylist()
    texts = zip(chunks, read_chunk_texts(store, chunks), strict=True)
    return {chunk["text_hash"]: text for chunk, text in texts if text is not None}


def _fact_texts(store: Store, where: str) -> dict[str, str]:
    table = store.rows("facts", ["text_hash", "text", "entity_id"], where)
    entities = {entity.id: entity for entity in stored_entities(store)}
    return {
        row["text_hash"]: strip_subject(row["text"], entities.get(row["entity_id"]))
        for row in table.to_pylist()
    }


def _add_vectors(store: Store, embedded: Sequence[tuple[Texts, Vectors]]) -> None:
    import numpy as np
    import pyarrow as pa

    if not embedded:
        return
    hashes = [text_hash for texts, _ in embedded for text_hash in texts]
    vectors = np.concatenate([vectors for _, vectors in embedded])
    flat = pa.array(vectors.astype(np.float16).reshape(-1))
    table = pa.table(
        [pa.array(hashes), pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])],
        schema=tables.table_schema("vectors", vectors.shape[1]),
    )
    with translate_errors("write vectors", store.uri):
        store.table("vectors").add(table)


MAX_FRAGMENTS = 8
"""Files of rows up to which a table is not compacted: a run adds one, and compacting copies all."""
MAX_STALE = 0.1
"""Share of rows that may be deleted, or missing in the index of their table."""
MAX_UNUSED, FEW_BYTES = 0.1, 200_000
"""Share of a table that may lie in files it no longer needs, and what does not matter anyway."""


def compact(store: Store, name: str) -> None:
    if _is_wasteful(store, name):
        store.optimize(name)


def _is_wasteful(store: Store, name: str) -> bool:
    with translate_errors(f"read table {name}", store.uri):
        table = store.table(name)
        stats = table.stats()
        count, needed = int(stats["num_rows"]), int(stats["total_bytes"])
        fragments = int(stats["fragment_stats"]["num_fragments"])
        stale = fragments * int(stats["fragment_stats"]["lengths"]["mean"]) - count  # deleted rows
        if name in INDEXED_BY_PATH:
            stale += int(table.index_stats(PATH_INDEX).num_unindexed_rows)
        unused = bytes_in(Path(store.uri) / f"{name}.lance") - needed
    return (
        fragments > MAX_FRAGMENTS
        or stale > MAX_STALE * count
        or unused > MAX_UNUSED * needed + FEW_BYTES
    )


def compact_if_short_of_space(store: Store) -> None:
    """Compact all tables when the disk could not hold a second copy. Never fails."""
    if not store.exists():
        return
    with suppress(OSError):
        if disk_usage(store.uri).free < store.size_bytes():
            for name in INDEX_TABLES:
                with suppress(IndexFault):
                    store.optimize(name)
