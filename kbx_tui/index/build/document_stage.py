"""First stage of a build: table documents, from new, changed and deleted files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.build.file_changes import Changes, unreadable
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.build.workers import Workers
from kbx_tui.index.document_rows import document_row
from kbx_tui.index.schema import SCHEMAS
from kbx_tui.index.store import Store
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.vault import read_page

BATCH = 1000
"""Documents per commit."""

PAGES_PER_TASK = 50
"""Pages parsed between two progress reports."""

Parser = Callable[[str, bytes], Document]
"""Makes a document of a path and the content of its file."""
Page = tuple[str, bytes]


def write_documents(
    store: Store, changes: Changes, parse: Parser, workers: Workers, meter: ProgressMeter
) -> bool:
    """Bring table documents up to date, one commit per batch; False when cancelled.

    A file that has become unreadable is added to the problems of `changes`.
    """
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
    """Return the rows of documents."""
    return [document_row(parse(path, data)) for path, data in pages]


def _read_pages(paths: list[str], changes: Changes, meter: ProgressMeter) -> Iterator[list[Page]]:
    """Yield the content of the files that can be read, until cancelled."""
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
                pa.Table.from_pylist(changed, schema=SCHEMAS["documents"])
            )
