"""Reading of the snapshot of the newest generation, and refreshing of the files it is mapped from.

What the files lack is read from the tables: after a killed run, or while one is writing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from kbx_tui.index import tables
from kbx_tui.index.arrays import Flags, Rows, Versions
from kbx_tui.index.derived_files import is_few
from kbx_tui.index.snapshot import (
    LINKS,
    EntityPages,
    IdColumn,
    LinksByEntity,
    NameUses,
    Snapshot,
    StoredLinks,
    make_links,
)
from kbx_tui.index.store import Store, batched_clauses, quoted, release_memory
from kbx_tui.index.stored_documents import (
    COLUMNS,
    DOCUMENTS,
    DocumentSegment,
    StoredDocuments,
    make_documents,
    places_by_row,
)
from kbx_tui.index.stored_entities import (
    ENTITIES,
    FACTS,
    EntityColumn,
    StoredEntities,
    StoredFacts,
    make_entities,
)
from kbx_tui.index.stored_names import NAMES, StoredNames, make_names
from kbx_tui.index.text_columns import (
    CodedColumn,
    RowOfText,
    SortedTexts,
    TextArena,
    TextColumn,
    TextLists,
)
from kbx_tui.index.versions import (
    DOCUMENT_TABLES,
    ENTITY_TABLES,
    FACT_TABLES,
    LINK_TABLES,
    VersionColumn,
    are_among,
    stored_versions,
    table_state,
)
from kbx_tui.knowledge.records import Entity

BLOCK_BYTES, BLOCK_ROWS = 1 << 24, 2000
"""Bytes of files, and documents, up to which one block of documents is read at once."""
LISTED_AT_ONCE = 500
"""Documents listed in one where clause, and rows converted at once."""


def read_snapshot(store: Store, table_versions: Mapping[str, int] | None = None) -> Snapshot:
    """Read the snapshot of the newest generation. Raises IndexFault.

    `table_versions` are those of all tables, if they are known. They are read before the tables
    are: a table that is newer has another state than a file.
    """
    numbers, meta = table_versions or store.versions(), store.meta()
    documents = _Documents.load(store, table_state(DOCUMENT_TABLES, numbers, meta))
    paths, kinds = documents.paths, documents.coded("kinds")
    versions = documents.versions
    state = table_state(ENTITY_TABLES, numbers, meta)
    names: StoredNames | None = None
    links: StoredLinks | None = None
    facts: StoredFacts | None = None
    links_state = table_state(LINK_TABLES, numbers, meta, versions)
    if (stored := ENTITIES.map_state(store, state)) is None:
        stored = _read_entities(store, state)  # other files have the numbers of those mapped
    else:
        names = NAMES.map_state(store, state)
        links = LINKS.map_state(store, links_state)
        facts = FACTS.map_state(store, table_state(FACT_TABLES, numbers, meta))
    entities = EntityColumn(stored)
    links = links or make_links(store, entities, paths, kinds, links_state)
    entity_pages = EntityPages(links, entities)
    release_memory()
    return Snapshot(
        paths=paths,
        ids=IdColumn(documents.texts("ids"), entity_pages),
        titles=documents.texts("titles"),
        dates=documents.coded("dates"),
        kinds=kinds,
        tags=TextLists(documents.texts("tags")),
        attendees=documents.texts("attendees"),
        row_of=RowOfText(paths),
        entities=entities,
        links=LinksByEntity(links, entities),
        name_uses=NameUses(links),
        aliases=TextLists(documents.texts("aliases")),
        is_vault=bool(meta.get("is_vault")),
        versions=VersionColumn(versions),
        segments=tuple(documents.segments),
        entity_pages=entity_pages,
        names=names or make_names(entities, state),
        facts=facts,
    )


def indexed_versions(store: Store) -> dict[str, str]:
    documents = _Documents.load(store, _documents_state(store))
    return dict(zip(documents.paths, VersionColumn(documents.versions), strict=True))


def refresh_documents_files(store: Store, current: Versions) -> None:
    """Bring documents.bin, or the file of newer documents, up to date; under the writer lock."""
    state = _documents_state(store)
    if not DOCUMENTS.is_current(store, current):
        DOCUMENTS.write(store, make_documents(documents_of(store, COLUMNS), state))
    mapped, newer = DOCUMENTS.map(store), DOCUMENTS.of_newer.map(store)
    if mapped is None or np.array_equal(mapped.state, state):
        DOCUMENTS.of_newer.remove(store)
    elif newer is None or not np.array_equal(newer.state, state):
        missing = current[~are_among(current, mapped.versions)]
        gone = np.flatnonzero(~are_among(mapped.versions, current)).astype(np.int32)
        newer = make_documents(documents_of(store, COLUMNS, missing), state)
        DOCUMENTS.of_newer.write(store, replace(newer, gone=gone))


def refresh_entity_files(store: Store) -> None:
    """Bring the files of entities, names and links up to date, after those of documents."""
    snapshot = read_snapshot(store)
    stored, links = snapshot.entities.stored, snapshot.links.stored
    if ENTITIES.map_state(store, stored.state) is None:
        ENTITIES.write(store, stored)
    if NAMES.map_state(store, stored.state) is None:
        NAMES.write(store, snapshot.names)
    if LINKS.map_state(store, links.state) is None:
        LINKS.write(store, links)


def stored_entities(store: Store) -> list[Entity]:
    table = store.rows("entities", tables.ENTITY_COLUMNS)
    return sorted(map(tables.entity_from_row, table.to_pylist()), key=lambda entity: entity.id)


def documents_of(
    store: Store, columns: Sequence[str], versions: Versions | None = None
) -> Iterator[dict[str, Any]]:
    """Yield path, version and other columns of documents of some versions, or of all, by path.

    A block of them is in memory at a time, or all if they are few. Raises IndexFault.
    """
    selected = list(dict.fromkeys(["path", "version", *columns]))
    if versions is not None and is_few(len(versions), store.count("documents")):
        texts = [version.decode() for version in versions.tolist()]
        clauses = batched_clauses("version", texts, LISTED_AT_ONCE)
        rows = [row for clause in clauses for row in _matching(store, selected, clause)]
        yield from sorted(rows, key=lambda row: row["path"].encode())
        return
    wanted = None if versions is None else set(VersionColumn(versions))
    for clause in _blocks(store):
        rows_of_block = _matching(store, selected, clause)
        yield from (row for row in rows_of_block if wanted is None or row["version"] in wanted)


def _matching(store: Store, columns: list[str], where: str | None) -> Iterator[dict[str, Any]]:
    table = store.rows("documents", columns, where).sort_by("path")
    for batch in table.to_batches(LISTED_AT_ONCE):
        yield from batch.to_pylist()


def _blocks(store: Store) -> Iterator[str | None]:
    table = store.rows("documents", ["path", "size"]).sort_by("path")
    sizes = table["size"].fill_null(0).to_numpy()
    blocks = np.stack((np.cumsum(sizes) // BLOCK_BYTES, np.arange(len(sizes)) // BLOCK_ROWS))
    begins = np.flatnonzero((blocks[:, 1:] != blocks[:, :-1]).any(axis=0)) + 1
    if not len(begins):
        yield None
        return
    for first, end in pairwise([0, *begins.tolist(), len(sizes)]):
        lowest, highest = (table["path"][row].as_py() for row in (first, end - 1))
        yield f"path >= {quoted(lowest)} AND path <= {quoted(highest)}"


@dataclass(frozen=True, slots=True)
class _Documents:
    """The documents of the newest generation, in one segment or two."""

    segments: Sequence[DocumentSegment]
    places: Rows | None
    """Which document each row has, counted through all segments; None: as they are."""

    @classmethod
    def load(cls, store: Store, state: Versions) -> _Documents:
        segments = _mapped_documents(store, state) or _read_documents(store)
        return cls(segments, places_by_row(segments))

    @property
    def paths(self) -> SortedTexts:
        return SortedTexts([segment.documents.paths for segment in self.segments], self.places)

    @property
    def versions(self) -> Versions:
        arrays = [segment.documents.versions for segment in self.segments]
        return arrays[0] if self.places is None else np.concatenate(arrays)[self.places]

    def texts(self, field: str) -> TextColumn:
        arenas: list[TextArena] = [getattr(each.documents, field) for each in self.segments]
        return TextColumn(arenas, self.places)

    def coded(self, field: str) -> CodedColumn:
        columns: list[CodedColumn] = [getattr(each.documents, field) for each in self.segments]
        if self.places is None:
            return columns[0]
        return CodedColumn.concatenated(columns).take(self.places)


def _mapped_documents(store: Store, state: Versions) -> list[DocumentSegment] | None:
    if (mapped := DOCUMENTS.map(store)) is None:
        return None
    if np.array_equal(mapped.state, state):
        return [DocumentSegment.of(mapped)]
    newer = DOCUMENTS.of_newer.map(store)
    if newer is None or not np.array_equal(newer.state, state):
        return None
    stays = np.ones(len(mapped), np.bool_)
    stays[newer.gone] = False
    return _in_order(mapped, stays, newer)


def _read_documents(store: Store) -> list[DocumentSegment]:
    """Return the documents in the table; if few differ from those mapped, only these are read."""
    if (mapped := DOCUMENTS.map(store)) is not None:
        current = stored_versions(store)
        missing = current[~are_among(current, mapped.versions)]
        if is_few(len(missing), len(current)):
            newer = make_documents(documents_of(store, COLUMNS, missing))
            if len(newer) == len(missing):  # else they changed again meanwhile
                return _in_order(mapped, are_among(mapped.versions, current), newer)
    return [DocumentSegment.of(make_documents(documents_of(store, COLUMNS)))]


def _in_order(
    mapped: StoredDocuments, stays: Flags, newer: StoredDocuments
) -> list[DocumentSegment]:
    """Return the segments of both, with rows by path; `stays` flags `mapped` ones that have one."""
    kept = np.flatnonzero(stays)
    kept_paths = SortedTexts([mapped.paths], kept)
    before = [bisect_left(kept_paths, path) for path in newer.paths]
    newer_before = np.searchsorted(before, np.arange(len(kept)), "right")
    rows = np.full(len(mapped), -1, np.int64)
    rows[kept] = np.arange(len(kept)) + newer_before
    newer_rows = np.array(before, np.int64) + np.arange(len(newer))
    return [DocumentSegment(mapped, rows), DocumentSegment(newer, newer_rows)]


def _documents_state(store: Store) -> Versions:
    return table_state(DOCUMENT_TABLES, store.versions(), store.meta())


def _read_entities(store: Store, state: Versions) -> StoredEntities:
    table = store.rows("entities", [*tables.ENTITY_COLUMNS, "text_hash"]).sort_by("id")
    batches = table.to_batches(LISTED_AT_ONCE)
    return make_entities((row for batch in batches for row in batch.to_pylist()), state)
