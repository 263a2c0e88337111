"""The stages of a build that write documents, chunks and vectors.

Vectors are keyed by the hash of their text. A run that dies between two commits loses only what was
not committed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from shutil import disk_usage
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.errors import EmbeddingError, IndexFault
from kbx_tui.index import tables
from kbx_tui.index.build.file_changes import Changes, unreadable
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.build.workers import Workers
from kbx_tui.index.snapshot import stored_entities
from kbx_tui.index.store import (
    INDEXED_BY_PATH,
    PATH_INDEX,
    Store,
    batched_clauses,
    bytes_in,
    is_one_of,
    translate_errors,
)
from kbx_tui.knowledge.chunker import split_documents
from kbx_tui.knowledge.decoding import content_hash, decode
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.markdown import states_title
from kbx_tui.knowledge.reading import Conventions, parse_document
from kbx_tui.knowledge.records import Chunk, Document, Problem
from kbx_tui.knowledge.redaction import NEAR_MARK, near_marks, public_data
from kbx_tui.knowledge.vault import read_page
from kbx_tui.removal import INDEX_TABLES

BATCH = 1000

PAGES_PER_TASK = 50

Page = tuple[str, bytes]
RowReader = Callable[[str, bytes], dict[str, Any] | None]
"""Makes the row of a page in table documents; None for one that is not indexed."""


def write_documents(
    store: Store, changes: Changes, read_row: RowReader, workers: Workers, meter: ProgressMeter
) -> bool:
    """Bring table documents up to date, one commit per batch; False when cancelled."""
    paths = changes.added + changes.changed
    meter.begin("reading", len(paths))
    added, parsed, count = set(changes.added), list[dict[str, Any]](), 0
    pages = _read_pages(paths, changes, meter)
    for finished in workers.map(partial(_read_rows, read_row), pages):
        for read, rows in finished:
            parsed += rows
            count += len(read)
            for path in {path for path, _ in read} - {row["path"] for row in rows}:
                changes.deleted.append(path)  # it was hidden after it was compared
                changes.hashes.pop(path)
            changes.hashes.update((row["path"], row["content_hash"]) for row in rows)
        meter.report(count)
        if len(parsed) >= BATCH:
            _upsert(store, parsed, added)
            parsed.clear()
    _upsert(store, parsed, added)
    if meter.cancelled():
        return False
    store.delete("documents", "path", changes.deleted)
    return True


def _read_rows(read_row: RowReader, _: Embedder, pages: list[Page]) -> list[dict[str, Any]]:
    return [row for path, data in pages if (row := read_row(path, data)) is not None]


def _read_pages(paths: list[str], changes: Changes, meter: ProgressMeter) -> Iterator[list[Page]]:
    for start in range(0, len(paths), PAGES_PER_TASK):
        if meter.cancelled():
            return
        some = paths[start : start + PAGES_PER_TASK]
        if pages := [page for path in some if (page := _read(path, changes)) is not None]:
            yield pages


def _read(path: str, changes: Changes) -> Page | None:
    try:
        return path, read_page(changes.files[path], path)
    except OSError as error:  # deleted or locked since it was listed
        changes.problems.append(unreadable(path, error))
        changes.hashes.pop(path, None)
        return None


def _upsert(store: Store, parsed: list[dict[str, Any]], added: set[str]) -> None:
    """Append the rows of added paths, which is faster, and merge the others by path.

    Before the first page with redacted parts, the folder of the public index is made, so that
    agents never search an index with such a page.
    """
    if any(row["public_hash"] != row["content_hash"] for row in parsed):
        store.make_public()
    store.append("documents", [row for row in parsed if row["path"] in added])
    changed = [row for row in parsed if row["path"] not in added]
    if changed:
        merge = store.table("documents").merge_insert("path").when_matched_update_all()
        with translate_errors("write documents", store.uri):
            merge.when_not_matched_insert_all().execute(
                pa.Table.from_pylist(changed, schema=tables.table_schema("documents"))
            )


TITLE_LENGTH = 200
"""Characters of a title that are embedded with the first chunk of its document."""


def read_document_row(
    path: str,
    data: bytes,
    *,
    entity_types: frozenset[str],
    conventions: Conventions,
    public: bool,
) -> dict[str, Any] | None:
    """Return the row of a page; with `public`, of its public parts, None if it has none."""
    parse = partial(parse_document, path, entity_types=entity_types, conventions=conventions)
    shown = public_data(path, data, entity_types, conventions)
    if public:
        return None if shown is None else document_row(parse(shown))
    document = parse(data)
    looks = [
        Problem(path, f"{NEAR_MARK}: {line}", number)
        for number, line in near_marks(decode(data)[0])
    ]
    if looks:
        document = replace(document, problems=(*document.problems, *looks))
    row = document_row(document)
    if shown is not data:
        row["public_hash"] = "" if shown is None else content_hash(shown)
    return row


def document_row(document: Document) -> dict[str, Any]:
    return tables.field_values(document) | {
        "public_hash": document.content_hash,
        "attendees": _json([[a.name, a.email] for a in document.attendees]),
        "frontmatter": _json(document.frontmatter),
        "states_title": states_title(document.body, document.title),
        "version": tables.document_version(document.path, document.content_hash),
        "problems": _json([[p.path, p.reason, p.line, p.skipped] for p in document.problems]),
    }


def chunk_rows(document: Document, chunks: Iterable[Chunk]) -> Iterator[dict[str, Any]]:
    version, start = tables.document_version(document.path, document.content_hash), 0
    for chunk in chunks:
        end = start + len(chunk.text)
        yield {
            "path": document.path,
            "version": version,
            "ordinal": chunk.ordinal,
            "start": start,
            "end": end,
            "heading": chunk.heading,
            "line_start": chunk.line_start,
            "line_end": chunk.line_end,
            "text_hash": tables.text_hash(embedded_text(document.title, chunk.ordinal, chunk.text)),
        }
        start = end


def embedded_text(title: str, ordinal: int, text: str) -> str:
    """Return what is embedded of the chunk `text` of a document with this title.

    A title that no heading states, as that of a note known by its file name, precedes the first
    chunk, as a heading would.
    """
    return text if ordinal or states_title(text, title) else f"# {title[:TITLE_LENGTH]}\n\n{text}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


CHUNK_TEXT_COLUMNS = ["path", "version", "ordinal", "start", "end", "text_hash"]
"""The columns of table chunks that `read_chunk_texts` needs in each chunk."""

DOCUMENTS_AT_ONCE = 500


def read_chunk_texts(store: Store, chunks: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Return what is embedded of each chunk, None where its document has another version."""
    page_of: dict[str, tuple[str, str]] = {}
    paths = sorted({chunk["path"] for chunk in chunks})
    for clause in batched_clauses("path", paths, DOCUMENTS_AT_ONCE):
        table = store.rows("documents", ["version", "title", "body"], clause)
        page_of |= {row["version"]: (row["title"], row["body"]) for row in table.to_pylist()}
    texts: list[str | None] = []
    for chunk in chunks:
        title, body = page_of.get(chunk["version"], ("", None))
        if body is None:
            texts.append(None)
        else:
            text = body[chunk["start"] : chunk["end"]]
            texts.append(embedded_text(title, chunk["ordinal"], text))
    return texts


DOCUMENTS_PER_BATCH = 500
FIRST_BATCH, TEXTS_PER_BATCH = 64, 512
"""Texts read first, and at most in a batch; sorted by length to reduce padding."""
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


EmbedFirst = Callable[[], Sequence[str]]
"""Returns paths of documents whose texts are to be embedded first, in this order."""


def write_vectors(
    store: Store,
    workers: Workers,
    meter: ProgressMeter,
    only: Collection[str] | None = None,
    embed_first: EmbedFirst = tuple,
    *,
    source: Store | None = None,
) -> tuple[int, int, bool]:
    """Embed every text that has no vector, and delete vectors of deleted texts.

    With `only`, embeds the texts of the files at these paths and deletes nothing. `embed_first` is
    called again and again, as its answer may change while texts are embedded. Vectors
    that the index `source` has are copied. Returns how many texts were embedded, how many had a
    vector, and False when cancelled.
    """
    table_of, chunks_of = _texts_to_embed(store, only)
    few = only is not None and len(table_of) <= FEW_TEXTS
    of_these = is_one_of("text_hash", table_of) if few else None
    embedded = set(store.rows("vectors", ["text_hash"], of_these)["text_hash"].to_pylist())
    missing = [key for key in table_of if key not in embedded]
    if source is not None and missing:
        copied = _copy_vectors(source, store, missing)
        missing = [key for key in missing if key not in copied]
    reused = len(table_of) - len(missing)
    meter.begin("vectors", len(missing))

    def first() -> Iterator[str]:
        return chain.from_iterable(chunks_of.get(path, ()) for path in embed_first())

    texts = _read_missing(store, missing, table_of, first, workers.texts_per_task, meter)
    waiting, count, stored, commits = list[tuple[Texts, Vectors]](), 0, 0, 0
    try:
        for finished in workers.map(_embed, texts, ordered=False):
            waiting += finished
            count += sum(len(some) for some, _ in finished)
            # the first commits are small: vectors help within seconds
            if count - stored >= min(workers.texts_per_commit, max(FIRST_BATCH, stored)):
                _commit(store, waiting)
                stored, commits = count, commits + 1
                waiting.clear()
                if commits % COMMITS_PER_COMPACTION == 0:
                    compact(store, "vectors")
            meter.report(count)
    except EmbeddingError:  # keep what is done: a server that limits requests fails in each run
        _commit(store, waiting)
        raise
    _commit(store, waiting)
    if count < len(missing) and meter.cancelled():
        return count, reused, False
    if only is None:
        store.delete("vectors", "text_hash", embedded - table_of.keys())
    return count, reused, True


def _copy_vectors(source: Store, store: Store, keys: list[str]) -> set[str]:
    """Copy those vectors of `keys` that another index has; return their keys."""
    copied = set[str]()
    for clause in batched_clauses("text_hash", keys, TEXTS_PER_READ):
        vectors = source.rows("vectors", ["text_hash", "vector"], clause)
        if len(vectors):
            with translate_errors("write vectors", store.uri):
                store.table("vectors").add(vectors.cast(store.table("vectors").schema))
            copied.update(vectors["text_hash"].to_pylist())
    return copied


def _embed(embedder: Embedder, texts: Texts) -> Vectors:
    return embedder.embed(list(texts.values()))


def _read_missing(
    store: Store,
    missing: list[str],
    table_of: dict[str, str],
    first: Callable[[], Iterable[str]],
    texts_per_task: int,
    meter: ProgressMeter,
) -> Iterator[Texts]:
    left = dict.fromkeys(missing)
    while left:
        size = min(TEXTS_PER_READ, max(FIRST_BATCH, len(missing) - len(left)))
        ahead = [key for key in dict.fromkeys(first()) if key in left][:size]
        for key in ahead:
            del left[key]
        for key in list(islice(left, size - len(ahead))):
            ahead.append(key)
            del left[key]
        read = _read_texts(store, {key: table_of[key] for key in ahead})
        for start in range(0, len(ahead), TEXTS_PER_BATCH):
            batch = ahead[start : start + TEXTS_PER_BATCH]
            texts = [(key, read[key]) for key in batch if key in read]
            by_length = sorted(texts, key=lambda item: -len(item[1]))
            for offset in range(0, len(by_length), texts_per_task):
                if meter.cancelled():
                    return
                yield dict(by_length[offset : offset + texts_per_task])


def _texts_to_embed(
    store: Store, only: Collection[str] | None = None
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the table of each distinct text by its hash, in the order to embed them.

    Entities, facts and titles come first, then chunks, newest document first. With `only`, these
    are the texts of the files at some paths. With them come the hashes of chunks by path.
    """
    where = None if only is None else is_one_of("path", only)
    table_of: dict[str, str] = {}
    for name in ("entities", "facts"):
        for key in store.rows(name, ["text_hash"], where)["text_hash"].to_pylist():
            table_of.setdefault(key, name)
    documents = store.rows("documents", ["path", "title", "date"], where)
    for title in documents["title"].to_pylist():
        if title.strip():
            table_of.setdefault(tables.text_hash(title), "documents")
    dates = dict(zip(documents["path"].to_pylist(), documents["date"].to_pylist(), strict=True))
    chunks = store.rows("chunks", ["path", "text_hash"], where)
    pairs = zip(chunks["path"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True)
    chunks_of: dict[str, list[str]] = defaultdict(list)
    for path, key in sorted(pairs, key=lambda pair: dates.get(pair[0], ""), reverse=True):
        table_of.setdefault(key, "chunks")
        chunks_of[path].append(key)
    return table_of, chunks_of


def _read_texts(store: Store, table_of: Mapping[str, str]) -> dict[str, str]:
    hashes_of: dict[str, list[str]] = defaultdict(list)
    for key, name in table_of.items():
        hashes_of[name].append(key)
    of_table = {name: is_one_of("text_hash", hashes) for name, hashes in hashes_of.items()}
    texts: dict[str, str] = {}
    if where := of_table.get("entities"):
        texts |= store.mapping("entities", "text_hash", "profile", where)
    if where := of_table.get("facts"):
        table = store.rows("facts", ["text_hash", "text", "entity_id"], where)
        entities = {entity.id: entity for entity in stored_entities(store)}
        for row in table.to_pylist():
            texts[row["text_hash"]] = strip_subject(row["text"], entities.get(row["entity_id"]))
    if where := of_table.get("chunks"):
        chunks = store.rows("chunks", CHUNK_TEXT_COLUMNS, where).to_pylist()
        for chunk, text in zip(chunks, read_chunk_texts(store, chunks), strict=True):
            if text is not None:
                texts[chunk["text_hash"]] = text
    if "documents" in of_table:
        titles = {tables.text_hash(title): title for title in store.column("documents", "title")}
        texts |= {key: titles[key] for key in titles if table_of.get(key) == "documents"}
    return texts


def read_texts(store: Store, hashes: Iterable[str]) -> dict[str, str]:
    """Return what is embedded of some texts of an index, by hash. Raises KeyError for others."""
    table_of, _ = _texts_to_embed(store)
    return _read_texts(store, {key: table_of[key] for key in hashes})


def _commit(store: Store, embedded: Sequence[tuple[Texts, Vectors]]) -> None:
    if embedded:
        hashes = [key for texts, _ in embedded for key in texts]
        add_vectors(store, hashes, np.concatenate([vectors for _, vectors in embedded]))


def add_vectors(store: Store, hashes: Sequence[str], vectors: Vectors) -> None:
    """Store the vectors of texts by their hashes. Raises IndexForeign for those of other length."""
    store.require_dimension(vectors.shape[1])
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
"""Share of rows that may be deleted, or missing from the table's index, before it is compacted."""
MAX_UNUSED, FEW_BYTES = 0.1, 200_000
"""A table may keep unneeded files: this share of the bytes it needs, plus this many bytes."""


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
