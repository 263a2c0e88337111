"""The index build: brings the index up to date with the files; it never writes the files.

Documents, entities, facts and links come first and can be searched within seconds; chunks and
vectors follow. A run can be killed at any moment: the index stays searchable and the next run
continues. That relies on the order of commits: documents, in batches; then the tables derived from
all of them; last the digest `derived_from` of the files they were derived from. A damaged or
unfinished index is replaced by a new one (`index/build/repair.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import msgspec

from kbx_tui.config import Settings
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import SMALL_BATCH
from kbx_tui.errors import IndexDamaged
from kbx_tui.index import tables
from kbx_tui.index.build.entity_stage import topic_rules, write_entities_and_links
from kbx_tui.index.build.file_changes import Changes, find_changes, find_public_changes
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener, ProgressMeter
from kbx_tui.index.build.repair import (
    copy_vectors,
    model_of,
    new_index,
    put_aside,
    put_in_place,
    rewritten_note,
    sweep_leftovers,
    take_over_vectors,
)
from kbx_tui.index.build.stages import (
    EmbedFirst,
    compact,
    compact_if_short_of_space,
    read_document_row,
    write_chunks,
    write_documents,
    write_vectors,
)
from kbx_tui.index.build.workers import OwnProcess, Workers
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.derived_files import delete_derived_files
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.index_status import entity_types, noted_settings
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.noted_state import find_damage, note_state
from kbx_tui.index.ownership import index_id
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store, stored_problems, wrong_model_error
from kbx_tui.index.tables import text_hash
from kbx_tui.index.vectors.vector_lists import refresh_vector_lists
from kbx_tui.index.vectors.vector_matrix import refresh_vectors_file
from kbx_tui.index.versions import TABLES_ID
from kbx_tui.knowledge.conventions import read_conventions
from kbx_tui.knowledge.obsidian_vault import FileLookup, read_vault_settings
from kbx_tui.knowledge.reading import stored_conventions
from kbx_tui.knowledge.topics import TopicRules
from kbx_tui.knowledge.vault import load_suppressions
from kbx_tui.state_file import set_aside

REPLACED_TABLES = ("entities", "facts", "links", "name_uses", "meta")
DERIVATION = 4
"""Version of the rules for deriving entities, facts and links; a change derives them again.
"""


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
    workers: Workers | None = None,
    embed_first: EmbedFirst = tuple,
) -> IndexReport:
    """Index `root`: with `fast` only the text, with `full` from scratch.

    With `only`, just the files at these paths are compared, for a caller that has written them.
    `workers` have the same model as `embedder`; by default this process does the work. Texts of the
    documents at `embed_first` get vectors first. Raises
    IndexLocked (if not `wait`, or if cancelled while waiting), IndexForeign, IndexFault and
    EmbeddingError.
    """
    store, meter = Store(index_uri(root, settings)), ProgressMeter(listener, cancelled)
    workers = workers or OwnProcess(embedder)
    run = _Run(root, settings, embedder, store, workers, meter, embed_first, fast=fast)
    with writer_lock(root, wait=wait, on_wait=on_wait, cancelled=cancelled):
        words, aside = store.foreign_words(), put_aside(store)
        sweep_leftovers(store)
        compact_if_short_of_space(store)
        repaired = [] if full else _damage(store)
        if not (full or fast or repaired or only is not None):
            repaired = _outdated(store, embedder)
        try:
            report = run.rebuild() if full else run.repair() if repaired else run.update(only)
        except IndexDamaged as error:
            if full or repaired:
                raise
            repaired = [str(error)]  # damage found only while reading
            report = run.repair()
        if report.finished:
            run.update_public(is_whole=only is None)
    if aside is not None:
        repaired = [f"{words} and was put aside as {aside.name}; ", *repaired]
    rebuilt = (f"{sentence.rpartition('; ')[0]}; it has been rebuilt" for sentence in repaired)
    return replace(report, repaired=(*rebuilt, *report.repaired))


def _damage(store: Store) -> list[str]:
    try:
        return find_damage(store) if store.exists() and store.is_searchable() else []
    except IndexDamaged as error:
        return [str(error)]


def _outdated(store: Store, embedder: Embedder) -> list[str]:
    """Return a sentence if an older version made the index and this run can bring it up to date."""
    if not (store.exists() and store.is_searchable()):
        return []
    try:
        meta = store.meta()
    except IndexDamaged as error:
        return [str(error)]
    found = meta.get("schema_version")
    if meta.get("model") != embedder.model or not isinstance(found, int):
        return []
    is_current = found == tables.SCHEMA_VERSION and meta.get("text_rules") == tables.TEXT_RULES
    if is_current or found > tables.SCHEMA_VERSION:
        return []
    return ["an older version of this program read the texts in the index; `kbx index` reads them"]


@dataclass(frozen=True, slots=True)
class _Run:
    root: Path
    settings: Settings
    embedder: Embedder
    store: Store
    workers: Workers
    meter: ProgressMeter
    embed_first: EmbedFirst
    fast: bool
    source: Store | None = None
    """For the public index, the index that it is the public part of."""

    def update_public(self, *, is_whole: bool) -> None:
        """Bring the public index up to date with this one, or remove it if it is not needed."""
        store = self.store
        if not store.has_public():
            return
        if is_whole and not store.rows("documents", ["path"], "public_hash != content_hash"):
            store.public().remove()
            return
        if not store.public().is_own:
            put_aside(store.public())
            if store.has_public():  # not an index
                set_aside(Path(store.public().uri))
            store.make_public()
        run = replace(self, store=store.public(), source=store)
        sweep_leftovers(run.store)
        try:
            if _damage(run.store) or _outdated(run.store, self.embedder):
                run.rebuild()
            else:
                run.update(None)
        except IndexDamaged:
            run.rebuild()

    def update(self, only: Collection[str] | None) -> IndexReport:
        store = self.store
        if not (store.exists() and store.is_searchable()):
            return self.rebuild()
        store.check_compatible(model=self.embedder.model)
        if only is not None and not store.meta().get("derived_from"):
            only = None  # an unfinished index needs all files
        changes, finished = self._write_text(store, only)
        if finished and not self.fast:
            finished = write_chunks(store, self.workers, self.meter)
        return self._finish(changes, finished)

    def repair(self) -> IndexReport:
        """Rebuild the index. Raises IndexForeign if another model made it."""
        model = model_of(self.store)
        if model not in ("", self.embedder.model):
            raise wrong_model_error(model, self.embedder.model)
        return self.rebuild()

    def rebuild(self) -> IndexReport:
        """Build a new index with the vectors of the old one, then replace the old one.

        By then, text and chunks are complete; missing vectors are added afterwards. A cancelled run
        leaves the old index.
        """
        new, embedder = new_index(self.store), self.embedder
        known = index_id(Path(self.store.uri)) if self.store.is_own else ""
        new.create(model=embedder.model, dimension=embedder.dimension, index_id=known)
        note_state(new)
        try:
            if new is not self.store:
                copy_vectors(self.store, new, model=embedder.model, dimension=embedder.dimension)
            changes, finished = self._write_text(new, None)
            if finished and not self.fast:
                finished = write_chunks(new, self.workers, self.meter)
            if finished and new is not self.store:
                note_state(new)
                put_in_place(new, self.store, len(changes.hashes))
        finally:
            if new is not self.store:
                new.remove()
        return self._finish(changes, finished)

    def _write_text(self, store: Store, only: Collection[str] | None) -> tuple[Changes, bool]:
        """Write documents and data derived from them; return the changes, False when cancelled."""
        meta, types = store.meta(), entity_types(self.settings)
        vault, rules = read_vault_settings(self.root), topic_rules(self.settings)
        if self.source is not None:
            changes = find_public_changes(self.root, self.source, store)
            conventions = stored_conventions(self.source.meta().get("conventions"))
        else:
            changes = find_changes(self.root, store, self.settings, only)
            if only is None:
                conventions = read_conventions(self.root, changes.files, types)
            else:  # not all pages are at hand
                conventions = stored_conventions(meta.get("conventions"))
        kinds = sorted(types)  # kinds and ids of documents depend on them
        if meta.get("entity_types", kinds) != kinds or (
            "conventions" in meta and stored_conventions(meta["conventions"]) != conventions
        ):
            touched = {*changes.added, *changes.changed}
            changes.changed += [path for path in changes.hashes if path not in touched]
            delete_derived_files(store)  # the text of an unchanged version may differ now
        read_row = partial(
            read_document_row,
            entity_types=types,
            conventions=conventions,
            public=self.source is not None,
        )
        if changes and not write_documents(store, changes, read_row, self.workers, self.meter):
            return changes, False
        derived_from = partial(_derived_from, self.root, rules, is_vault=vault is not None)
        new_meta = {
            "schema_version": tables.SCHEMA_VERSION,
            "model": meta["model"],
            "dimension": meta["dimension"],
            "text_rules": meta.get("text_rules", 1),
            "entity_types": kinds,
            "conventions": msgspec.json.decode(msgspec.json.encode(conventions)),  # as it is stored
            **noted_settings(self.settings),
            "is_vault": vault is not None,
            "derived_from": derived_from(changes.hashes),
            TABLES_ID: meta.get(TABLES_ID) or uuid4().hex,
        }
        if changes or meta.get("derived_from") != new_meta["derived_from"]:
            # `derived_from` differs if a run died halfway or [entities] changed.
            whole = meta.get("derived_from") != derived_from(changes.indexed)
            files = FileLookup(changes.hashes) if vault else None
            write_entities_and_links(
                self.root, store, self.settings, changes, files, self.meter, whole=whole
            )
        self.meter.begin("text index", 1)
        if only is None:  # slow in a large base; after a partial run, the next full run does it
            compact(store, "documents")
        for name in REPLACED_TABLES:
            compact(store, name)
        if any(meta.get(key) != value for key, value in new_meta.items()):
            store.write_meta({**new_meta, "indexed_at": time.time()})
        refresh_text_files(store)
        store.mark_searchable()
        self.meter.searchable = True
        self.meter.report(1)
        return changes, True

    def _finish(self, changes: Changes, finished: bool) -> IndexReport:
        store, embedder, embedded, reused = self.store, self.embedder, 0, 0
        if finished and not self.fast:
            note_state(store)
            take_over_vectors(store, embedder)
            embedded, reused, finished = write_vectors(
                store, self.workers, self.meter, embed_first=self.embed_first, source=self.source
            )
            _compact_vectors(store, embedder, refresh=finished)
        self.meter.end()
        note_state(store)
        sizes = store.sizes()
        return IndexReport(
            added=len(changes.added) - changes.moved,
            changed=len(changes.changed),
            moved=changes.moved,
            deleted=len(changes.deleted) - changes.moved,
            embedded=embedded,
            reused=reused,
            problems=(*changes.problems, *stored_problems(store)),
            seconds=self.meter.seconds,
            size_bytes=sum(sizes.values()),
            sizes=sizes,
            generation=generation_of(store.versions()),
            repaired=tuple(map(rewritten_note, sorted(store.damaged_files))),
            finished=finished,
            **store.counts(),
        )


def add_vectors(
    root: Path,
    settings: Settings,
    embedder: Embedder,
    *,
    only: Collection[str] | None = None,
    cancelled: Cancelled = lambda: False,
    embed_first: EmbedFirst = tuple,
) -> int:
    """Embed texts of an existing index that have no vector; return their number.

    It embeds a few at a time, with the session used for queries, so that searches can run
    meanwhile. With `only`, just the texts of the files at these paths; `embed_first` is as in
    `build`. Raises IndexLocked while another process writes, NotFound, IndexForeign, IndexFault and
    EmbeddingError.
    """
    store = Store(index_uri(root, settings))
    with writer_lock(root, wait=False):
        store.check_compatible(model=embedder.model)
        meter = ProgressMeter(None, cancelled)
        workers = OwnProcess(embedder, texts_per_task=SMALL_BATCH)
        public = store.public()
        stores: list[tuple[Store, Store | None]] = [(store, None)]
        if public.exists() and public.is_searchable():
            stores = [(store, None), (public, store)]
            if only is not None:  # time is short: how much is redacted must not delay agents' part
                stores = [(public, store), (store, public)]
        embedded = 0
        for each, source in stores:
            embedded += _add_vectors(
                each, embedder, workers, meter, only, embed_first, source=source
            )
            if cancelled():
                break
        return embedded


def _add_vectors(
    store: Store,
    embedder: Embedder,
    workers: Workers,
    meter: ProgressMeter,
    only: Collection[str] | None,
    embed_first: EmbedFirst,
    *,
    source: Store | None = None,
) -> int:
    embedded, finished = 0, write_chunks(store, workers, meter, only)
    if finished:
        take_over_vectors(store, embedder)
        embedded, _, finished = write_vectors(
            store, workers, meter, only, embed_first, source=source
        )
    if only is None and (embedded or source) and finished:
        _compact_vectors(store, embedder, refresh=True)
    elif (
        finished
        and not (Path(store.uri) / "vectors.bin").exists()
        and store.count("chunks") >= store.count("documents")  # else some have none: quickly seen
    ):
        refresh_vectors_file(store, model=embedder.model, dimension=embedder.dimension)
    note_state(store)
    return embedded


def _compact_vectors(store: Store, embedder: Embedder, *, refresh: bool) -> None:
    compact(store, "chunks")
    compact(store, "vectors")
    if refresh:
        refresh_vectors_file(store, model=embedder.model, dimension=embedder.dimension)
        refresh_vector_lists(store, model=embedder.model, dimension=embedder.dimension)


def _derived_from(root: Path, rules: TopicRules, hashes: dict[str, str], *, is_vault: bool) -> str:
    suppressions = sorted(load_suppressions(root).items())
    listed = "\n".join(f"{path}\0{content_hash}" for path, content_hash in sorted(hashes.items()))
    topics = f"\n{rules}" if rules.are_any else ""
    return text_hash(f"{DERIVATION} {is_vault}\n{listed}\n{suppressions}{topics}")
