"""The index build: brings the index up to date with the files, which it never writes.

Documents, entities, facts and links come first and can be searched within seconds; chunks and
vectors follow. A run can be killed at any moment: the index stays searchable and the next run
continues. That relies on the order of commits: documents, in batches; then the tables derived from
all of them; last the digest `derived_from` of the files they were derived from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import IndexFault
from kbx_tui.index import schema
from kbx_tui.index.build.document_stage import write_documents
from kbx_tui.index.build.entity_stage import entity_types, write_entities_and_links
from kbx_tui.index.build.file_changes import Changes, find_changes
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener, ProgressMeter
from kbx_tui.index.build.vector_stage import write_chunks, write_vectors
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.derived_files import delete_derived_files
from kbx_tui.index.index_status import stored_problems
from kbx_tui.index.lexical.load_bm25 import refresh_text_files
from kbx_tui.index.schema import text_hash
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store, index_uri
from kbx_tui.index.vectors.load_vectors import refresh_vectors_file
from kbx_tui.knowledge.entities.suppressions import load_suppressions

TEXT_TABLES = ("documents", "entities", "facts", "links", "meta")
VECTOR_TABLES = ("chunks", "vectors")


def build(
    root: Path,
    settings: Settings,
    embedder: Embedder,
    *,
    listener: ProgressListener | None = None,
    fast: bool = False,
    full: bool = False,
    cancelled: Cancelled = lambda: False,
    wait: bool = True,
    on_wait: Callable[[str], None] | None = None,
    only: Collection[str] | None = None,
) -> IndexReport:
    """Index `root`: with `fast` only the text, with `full` from scratch.

    With `only`, just the files at these paths are compared, for a caller that has written them.
    Raises IndexLocked (only without `wait`), IndexForeign, IndexFault and EmbeddingError.
    """
    store = Store(index_uri(root, settings))
    with writer_lock(root, wait=wait, on_wait=on_wait):
        meter = ProgressMeter(listener, cancelled)
        _prepare(store, embedder, full=full)
        if only is not None and not store.meta().get("derived_from"):
            only = None  # an unfinished index needs all files
        changes, finished = _write_text(root, store, settings, meter, only)
        embedded = reused = 0
        if finished and not fast:
            if finished := write_chunks(store, embedder, meter):
                embedded, reused, finished = write_vectors(store, embedder, meter)
            for name in VECTOR_TABLES:
                store.optimize(name)
            if finished:
                refresh_vectors_file(store, model=embedder.model, dimension=embedder.dimension)
        meter.end()
        return IndexReport(
            added=len(changes.added) - changes.moved,
            changed=len(changes.changed),
            moved=changes.moved,
            deleted=len(changes.deleted) - changes.moved,
            embedded=embedded,
            reused=reused,
            problems=(*changes.problems, *stored_problems(store)),
            seconds=meter.seconds,
            size_bytes=store.size_bytes(),
            generation=generation_of(store.versions()),
            finished=finished,
            **store.counts(),
        )


def _prepare(store: Store, embedder: Embedder, *, full: bool) -> None:
    """Create the tables if they are missing or unfinished, or with `full`.

    Vectors of the same model are kept.
    """
    if not full and store.exists() and store.is_searchable():
        store.check_compatible(model=embedder.model)
        return
    keep_vectors = store.exists() and _has_vectors_of(store, embedder)
    if full and not keep_vectors:
        store.remove()
    delete_derived_files(store)
    store.create(model=embedder.model, dimension=embedder.dimension, keep_vectors=keep_vectors)


def _has_vectors_of(store: Store, embedder: Embedder) -> bool:
    try:
        same_model = store.meta().get("model") == embedder.model
        vectors_schema = schema.vectors_schema(embedder.dimension)
        return bool(same_model and store.table("vectors").schema == vectors_schema)
    except IndexFault:
        return False


def _write_text(
    root: Path, store: Store, settings: Settings, meter: ProgressMeter, only: Collection[str] | None
) -> tuple[Changes, bool]:
    """Write documents and what is derived from them; returns the changes, False when cancelled."""
    meta, types = store.meta(), entity_types(settings)
    changes = find_changes(root, store, settings, only)
    if meta.get("entity_types", sorted(types)) != sorted(types):  # kinds and ids depend on them
        touched = {*changes.added, *changes.changed}
        changes.changed += [path for path in changes.hashes if path not in touched]
        delete_derived_files(store)  # the text of a version may change
    if changes and not write_documents(store, changes, types, meter):
        return changes, False
    new_meta = {
        "schema_version": schema.SCHEMA_VERSION,
        "model": meta["model"],
        "dimension": meta["dimension"],
        "entity_types": sorted(types),
        "derived_from": _derived_from(root, changes.hashes),
    }
    if changes or meta.get("derived_from") != new_meta["derived_from"]:
        before = _derived_from(root, changes.indexed)  # differs when a run died half-way
        whole = meta.get("derived_from") != before
        write_entities_and_links(root, store, settings, changes, meter, whole=whole)
    meter.begin("text index", 1)
    if only is None:  # slow in a large base; after a partial run the next full one does it
        for name in TEXT_TABLES if changes else ("documents",):
            store.optimize(name)
    if any(meta.get(key) != value for key, value in new_meta.items()):
        store.write_meta({**new_meta, "indexed_at": time.time()})
    refresh_text_files(store)
    store.mark_searchable()
    meter.searchable = True
    meter.report(1)
    return changes, True


def _derived_from(root: Path, hashes: dict[str, str]) -> str:
    """Return a digest of everything that entities and links are derived from."""
    suppressions = sorted(load_suppressions(root).items())
    listed = "\n".join(f"{path}\0{content_hash}" for path, content_hash in sorted(hashes.items()))
    return text_hash(f"{listed}\n{suppressions}")
