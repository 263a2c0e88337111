"""First stage of a build: table documents, from new, changed and deleted files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kbx_tui.index.build.file_changes import Changes, unreadable
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.document_rows import document_row
from kbx_tui.index.schema import SCHEMAS
from kbx_tui.index.store import Store
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.vault import read_page

BATCH = 1000
"""Documents per commit."""

REPORT_EVERY = 50
"""Documents between two progress reports."""


Parser = Callable[[str, bytes], Document]
"""Makes a document of a path and the content of its file."""


def write_documents(store: Store, changes: Changes, parse: Parser, meter: ProgressMeter) -> bool:
    """Bring table documents up to date, one commit per batch; False when cancelled.

    A file that has become unreadable is added to the problems of `changes`.
    """
    paths = changes.added + changes.changed
    meter.begin("reading", len(paths))
    added = set(changes.added)
    for start in range(0, len(paths), BATCH):
        if meter.cancelled():
            return False
        parsed = []
        for count, path in enumerate(paths[start : start + BATCH], start + 1):
            if (document := _read(path, parse, changes)) is not None:
                parsed.append(document_row(document))
                changes.hashes[path] = document.content_hash
            if count % REPORT_EVERY == 0:
                meter.report(count)
        _upsert(store, parsed, added)
    store.delete("documents", "path", changes.deleted)
    return True


def _read(path: str, parse: Parser, changes: Changes) -> Document | None:
    try:
        data = read_page(changes.files[path])
    except OSError as error:  # deleted or locked since it was listed
        changes.problems.append(unreadable(path, error))
        changes.hashes.pop(path, None)
        return None
    return parse(path, data)


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
