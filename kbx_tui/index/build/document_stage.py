"""First stage of a build: table documents, from new, changed and deleted files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.build.file_changes import Changes, unreadable
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.build.workers import Workers
from kbx_tui.index.store import Store, batched_clauses, translate_errors
from kbx_tui.index.tables import (
    document_key,
    document_version,
    field_values,
    table_schema,
    text_hash,
)
from kbx_tui.knowledge.markdown import states_title
from kbx_tui.knowledge.records import Chunk, Document
from kbx_tui.knowledge.vault import read_page

BATCH = 1000
"""Documents per commit."""

PAGES_PER_TASK = 50

Parser = Callable[[str, bytes], Document]
Page = tuple[str, bytes]


def write_documents(
    store: Store, changes: Changes, parse: Parser, workers: Workers, meter: ProgressMeter
) -> bool:
    """Bring table documents up to date, one commit per batch; False when cancelled."""
    paths = changes.added + changes.changed
    meter.begin("reading", len(paths))
    added, parsed, count = set(changes.added), list[dict[str, Any]](), 0
    pages = _read_pages(paths, changes, meter)
    for finished in workers.map(partial(_parse_pages, parse), pages):
        for _, rows in finished:
            parsed += rows
            count += len(rows)
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


def _parse_pages(parse: Parser, _: Embedder, pages: list[Page]) -> list[dict[str, Any]]:
    return [document_row(parse(path, data)) for path, data in pages]


def _read_pages(paths: list[str], changes: Changes, meter: ProgressMeter) -> Iterator[list[Page]]:
    for start in range(0, len(paths), PAGES_PER_TASK):
        if meter.cancelled():
            return
        some = paths[start : start + PAGES_PER_TASK]
        if pages := [page for path in some if (page := _read(path, changes)) is not None]:
            yield pages


def _read(path: str, changes: Changes) -> Page | None:
    try:
        return path, read_page(changes.files[path])
    except OSError as error:  # deleted or locked since it was listed
        changes.problems.append(unreadable(path, error))
        changes.hashes.pop(path, None)
        return None


def _upsert(store: Store, parsed: list[dict[str, Any]], added: set[str]) -> None:
    """Append the rows of added paths, which is faster, and merge the others by path."""
    import pyarrow as pa

    store.append("documents", [row for row in parsed if row["path"] in added])
    changed = [row for row in parsed if row["path"] not in added]
    if changed:
        merge = store.table("documents").merge_insert("path").when_matched_update_all()
        with translate_errors("write documents", store.uri):
            merge.when_not_matched_insert_all().execute(
                pa.Table.from_pylist(changed, schema=table_schema("documents"))
            )


TITLE_LENGTH = 200
"""Characters of a title that are embedded with the first chunk of its document."""


def document_row(document: Document) -> dict[str, Any]:
    return field_values(document) | {
        "key": document_key(document.path),
        "attendees": _json([[a.name, a.email] for a in document.attendees]),
        "frontmatter": _json(document.frontmatter),
        "states_title": states_title(document.body, document.title),
        "version": document_version(document.path, document.content_hash),
        "problems": _json([[p.path, p.reason, p.line, p.skipped] for p in document.problems]),
    }


def chunk_rows(document: Document, chunks: Iterable[Chunk]) -> Iterator[dict[str, Any]]:
    version, start = document_version(document.path, document.content_hash), 0
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
            "text_hash": text_hash(embedded_text(document.title, chunk.ordinal, chunk.text)),
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
"""Columns of chunks that `read_chunk_texts` needs, and what it returns them by."""

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
