"""Bring the index up to date with the files. Never writes a user's file.

Text and entities come first and can be searched within seconds; chunks and vectors follow.
Killed at any moment, it leaves an index that can be searched, and the next run goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import IndexFault
from kbx_tui.index import schema
from kbx_tui.index.build.progress import Cancelled, IndexReport, Meter, ProgressListener
from kbx_tui.index.build.text_stage import (
    Changes,
    entity_types,
    find_changes,
    write_documents,
    write_entities_and_links,
)
from kbx_tui.index.build.vector_stage import write_chunks, write_vectors
from kbx_tui.index.build.writer_lock import state_folder, writer_lock
from kbx_tui.index.lexical.text_cache import remove_text_cache, write_text_cache
from kbx_tui.index.rows import problems_from
from kbx_tui.index.schema import text_hash
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store, index_uri
from kbx_tui.index.vectors.vector_file import write_vector_file
from kbx_tui.knowledge.entities.linking import load_suppressions

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
    """Index `root`: only the text with `fast`, everything anew with `full`.

    With `only`, no other file is looked at: for somebody who has just written these.

    Raises IndexLocked (only without `wait`), IndexForeign, IndexFault and EmbeddingError.
    """
    store = Store(index_uri(root, settings))
    state_folder(root)
    with writer_lock(root, wait=wait, on_wait=on_wait):
        meter = Meter(listener)
        _prepare(store, embedder, full=full)
        if only is not None and not store.meta().get("derived_from"):
            only = None  # nothing to add to yet
        changes, finished = _write_text(root, store, settings, meter, cancelled, only)
        embedded = reused = 0
        if finished and not fast:
            finished = write_chunks(store, embedder, meter, cancelled)
            if finished:
                embedded, reused, finished = write_vectors(store, embedder, meter, cancelled)
            for name in VECTOR_TABLES:
                store.optimize(name)
            if finished:
                write_vector_file(store, model=embedder.model, dimension=embedder.dimension)
        meter.end()
        return _report(store, changes, meter, embedded, reused, finished)


def _prepare(store: Store, embedder: Embedder, *, full: bool) -> None:
    """Make the tables when they are missing or unfinished; with `full` make them anew.

    Vectors of the same model are kept.
    """
    if not full and store.exists() and store.is_searchable():
        store.require(model=embedder.model)
        return
    keep = store.exists() and _has_vectors_of(store, embedder)
    if full and not keep:
        store.remove()
    remove_text_cache(store)
    store.create(model=embedder.model, dimension=embedder.dimension, keep_vectors=keep)


def _has_vectors_of(store: Store, embedder: Embedder) -> bool:
    try:
        same_model = store.meta().get("model") == embedder.model
        shape = schema.vectors_schema(embedder.dimension)
        return bool(same_model and store.table("vectors").schema == shape)
    except IndexFault:
        return False


def _write_text(
    root: Path,
    store: Store,
    settings: Settings,
    meter: Meter,
    cancelled: Cancelled,
    only: Collection[str] | None = None,
) -> tuple[Changes, bool]:
    meta, types = store.meta(), entity_types(settings)
    changes = find_changes(root, store, settings, only)
    if meta.get("entity_types", sorted(types)) != sorted(types):  # kinds and ids depend on them
        fresh = {*changes.added, *changes.changed}
        changes.changed += [path for path in changes.hashes if path not in fresh]
        remove_text_cache(store)  # versions stay, what they stand for may not
    if changes and not write_documents(store, changes, types, meter, cancelled):
        return changes, False
    noted = {
        "schema_version": schema.SCHEMA_VERSION,
        "model": meta["model"],
        "dimension": meta["dimension"],
        "entity_types": sorted(types),
        "derived_from": _derived_from(root, changes.hashes),
    }
    if changes or meta.get("derived_from") != noted["derived_from"]:
        before = _derived_from(root, changes.known)  # differs when a run died half-way
        whole = meta.get("derived_from") != before
        write_entities_and_links(root, store, settings, changes, meter, whole=whole)
    meter.begin("text index", 1)
    if only is None:  # a second in a large base, and the next whole run does it
        for name in TEXT_TABLES if changes else ("documents",):
            store.optimize(name)
    if any(meta.get(key) != value for key, value in noted.items()):
        store.write_meta({**noted, "indexed_at": time.time()})
    write_text_cache(store)
    store.finish()
    meter.searchable = True
    meter.report(1)
    return changes, True


def _derived_from(root: Path, hashes: dict[str, str]) -> str:
    """Return a digest of all that entities and links are made from."""
    suppressions = sorted(load_suppressions(root).items())
    listed = "\n".join(f"{path}\0{found}" for path, found in sorted(hashes.items()))
    return text_hash(f"{listed}\n{suppressions}")


def _report(
    store: Store, changes: Changes, meter: Meter, embedded: int, reused: int, finished: bool
) -> IndexReport:
    own = store.rows("documents", ["problems"], "problems != '[]'")["problems"].to_pylist()
    return IndexReport(
        documents=store.count("documents"),
        chunks=store.count("chunks"),
        entities=store.count("entities"),
        facts=store.count("facts"),
        links=store.count("links"),
        vectors=store.count("vectors"),
        added=len(changes.added) - changes.moved,
        changed=len(changes.changed),
        moved=changes.moved,
        deleted=len(changes.deleted) - changes.moved,
        embedded=embedded,
        reused=reused,
        problems=(*changes.problems, *(p for text in own for p in problems_from(text))),
        seconds=meter.seconds,
        size_bytes=store.size_bytes(),
        generation=generation_of(store.versions()),
        finished=finished,
    )
