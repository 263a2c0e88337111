"""Reading of the snapshot of the newest generation, and refreshing of the files it is mapped from.

What the files lack is read from the tables: after a killed run, or while one is writing. Documents
newer than documents.bin are read into a segment of their own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index import tables
from kbx_tui.index.derived_files import DOCUMENTS, ENTITIES, FACTS, LINKS, NAMES, is_few
from kbx_tui.index.snapshot import (
    EntityPages,
    LinksByEntity,
    NameUses,
    Rows,
    Snapshot,
    StoredLinks,
    make_links,
)
from kbx_tui.index.store import Store, batched_clauses, quoted, release_memory
from kbx_tui.index.stored_documents import (
    COLUMNS,
    DocumentSegment,
    StoredDocuments,
    make_documents,
    places_by_row,
)
from kbx_tui.index.stored_entities import (
    NO_STATE,
    EntityColumn,
    StoredEntities,
    StoredFacts,
    make_entities,
)
from kbx_tui.index.stored_names import StoredNames, make_names
from kbx_tui.index.text_columns import (
    CodedColumn,
    IdColumn,
    RowOfText,
    SortedTexts,
    TextColumn,
    TextLists,
)
from kbx_tui.index.versions import (
    DOCUMENT_TABLES,
    ENTITY_TABLES,
    FACT_TABLES,
    LINK_TABLES,
    VersionArray,
    Versions,
    are_among,
    have_same_versions,
    places_of,
    stored_versions,
    table_state,
    version_array,
)
from kbx_tui.knowledge.records import Entity


@dataclass(frozen=True, slots=True)
class _Documents:
    """The documents of the newest generation, as the files of entities need them."""

    segments: Sequence[DocumentSegment]
    places: Rows | None
    paths: SortedTexts
    versions: Versions

    @classmethod
    def read(cls, store: Store, numbers: Mapping[str, int], meta: Mapping[str, Any]) -> Self:
        """Read them; `numbers` are the versions of the tables, `meta` the content of that table."""
        links_file, state = LINKS.map(store), table_state(DOCUMENT_TABLES, numbers, meta)
        is_current = links_file is not None and np.array_equal(links_file.documents, state)
        return cls.load(store, is_current=is_current)

    @classmethod
    def load(cls, store: Store, *, is_current: bool = False) -> Self:
        segments = load_documents(store, is_current=is_current)
        places = places_by_row(segments)
        paths = SortedTexts([segment.documents.arena("path") for segment in segments], places)
        arrays = [segment.documents.versions for segment in segments]
        versions = Versions(arrays[0] if places is None else np.concatenate(arrays)[places])
        return cls(segments, places, paths, versions)

    def texts(self, name: str) -> TextColumn:
        arenas = [segment.documents.arena(name) for segment in self.segments]
        return TextColumn(arenas, self.places)

    def coded(self, name: str) -> CodedColumn:
        columns = [segment.documents.coded(name) for segment in self.segments]
        if self.places is None:
            return columns[0]
        return CodedColumn.concatenated(columns).take(self.places)


def read_snapshot(store: Store, table_versions: Mapping[str, int] | None = None) -> Snapshot:
    """Read the snapshot of the newest generation. Raises IndexFault.

    `table_versions` are those of all tables, if they are known.
    """
    numbers = table_versions or store.versions()
    meta = store.meta()
    documents = _Documents.read(store, numbers, meta)
    paths, kinds = documents.paths, documents.coded("kind")
    files = EntityFiles(store, numbers, meta, documents.versions.array)
    loaded = files.load(paths, kinds)
    entities, links = loaded.entities, loaded.links
    entity_pages = EntityPages(links, entities)
    release_memory()
    return Snapshot(
        paths=paths,
        ids=IdColumn(documents.texts("id"), entity_pages),
        titles=documents.texts("title"),
        dates=documents.coded("date"),
        kinds=kinds,
        tags=TextLists(documents.texts("tag")),
        attendees=documents.texts("attendee"),
        row_of=RowOfText(paths),
        entities=entities,
        links=LinksByEntity(links, entities),
        name_uses=NameUses(links),
        aliases=TextLists(documents.texts("alias")),
        is_vault=bool(meta.get("is_vault")),
        versions=documents.versions,
        segments=tuple(documents.segments),
        entity_pages=entity_pages,
        names=loaded.names,
        facts=loaded.facts,
    )


def indexed_versions(store: Store) -> dict[str, str]:
    """Return the version of each document in the index by its path. Raises IndexFault."""
    documents = _Documents.read(store, store.versions(), store.meta())
    return dict(zip(documents.paths, documents.versions, strict=True))


def refresh_entity_files(store: Store) -> None:
    """Bring the files of entities, names and links up to date. Raises IndexFault.

    For the holder of the writer lock.
    """
    numbers, meta = store.versions(), store.meta()
    documents, mapped = _Documents.load(store), DOCUMENTS.map(store)
    versions, state = documents.versions.array, table_state(DOCUMENT_TABLES, numbers, meta)
    if mapped is None or not np.array_equal(mapped.versions, versions):
        state = NO_STATE
    files = EntityFiles(store, numbers, meta, versions, state)
    files.refresh(documents.paths, documents.coded("kind"))


LISTED_AT_ONCE = 500
"""Documents listed in one where clause."""


def load_documents(store: Store, *, is_current: bool = False) -> list[DocumentSegment]:
    """Return the documents of the newest generation, their rows by path. Raises IndexFault.

    With `is_current`, documents.bin is known to have all of them and no others.
    """
    if (mapped := DOCUMENTS.map(store)) is not None:
        if is_current:
            return [DocumentSegment.of(mapped)]
        current = stored_versions(store)
        if have_same_versions(current, mapped.versions):
            return [DocumentSegment.of(mapped)]
        is_newer = ~are_among(current, mapped.versions)
        if is_few(int(np.count_nonzero(is_newer)), len(current)):
            newer = _read(store, [version.decode() for version in current[is_newer].tolist()])
            if len(newer) == np.count_nonzero(is_newer):  # else they changed again meanwhile
                return _in_order(mapped, are_among(mapped.versions, current), newer)
    return [DocumentSegment.of(_read_all(store))]


def refresh_documents_file(store: Store, versions: VersionArray) -> None:
    """Bring documents.bin up to date where it is stale. Raises IndexFault.

    `versions` are those in table documents.
    """
    if not DOCUMENTS.is_current(store, versions):
        DOCUMENTS.write(store, _read_all(store))


def _read_all(store: Store) -> StoredDocuments:
    return make_documents(documents_by_path(store, COLUMNS))


def _read(store: Store, versions: Sequence[str]) -> StoredDocuments:
    """Read the documents of some versions."""
    clauses = batched_clauses("version", versions, LISTED_AT_ONCE)
    rows = [row for clause in clauses for row in matching_documents(store, COLUMNS, clause)]
    return make_documents(sorted(rows, key=lambda row: row["path"].encode()))


def _in_order(
    mapped: StoredDocuments, stays: NDArray[np.bool_], newer: StoredDocuments
) -> list[DocumentSegment]:
    """Return the segments of both, with rows by path; `stays` flags `mapped` ones that have one."""
    kept = np.flatnonzero(stays)
    kept_paths = SortedTexts([mapped.arena("path")], kept)
    before = [bisect_left(kept_paths, path) for path in newer.arena("path")]
    newer_before = np.searchsorted(before, np.arange(len(kept)), "right")
    rows = np.full(len(mapped), -1, np.int64)
    rows[kept] = np.arange(len(kept)) + newer_before
    newer_rows = np.array(before, np.int64) + np.arange(len(newer))
    return [DocumentSegment(mapped, rows), DocumentSegment(newer, newer_rows)]


ENTITIES_AT_ONCE = 1000
"""Entities converted at once."""

ENTITY_COLUMNS = [*tables.ENTITY_COLUMNS, "text_hash"]


def stored_entities(store: Store) -> list[Entity]:
    """Return the entities in the index, ordered by id."""
    table = store.rows("entities", tables.ENTITY_COLUMNS)
    return sorted(map(tables.entity_from_row, table.to_pylist()), key=lambda entity: entity.id)


@dataclass(frozen=True, slots=True)
class LoadedEntities:
    """The entities of one generation, their names and links."""

    entities: EntityColumn
    names: StoredNames
    links: StoredLinks
    facts: StoredFacts | None


class EntityFiles:
    """The files of entities, names and links, for one state of the tables."""

    def __init__(
        self,
        store: Store,
        versions: Mapping[str, int],
        meta: Mapping[str, Any],
        documents: VersionArray,
        documents_state: NDArray[np.bytes_] = NO_STATE,
    ) -> None:
        """`versions` are those of the tables, and `documents` those of the documents in any order.

        Both are read before the tables are: a table that is newer has another state.
        `documents_state` is that of `StoredLinks.documents`, to be written.
        """
        self._store, self._documents_state = store, documents_state
        self._of_entities = table_state(ENTITY_TABLES, versions, meta)
        self._of_facts = table_state(FACT_TABLES, versions, meta)
        self._of_links = table_state(LINK_TABLES, versions, meta, documents)

    def load(self, paths: SortedTexts, kinds: CodedColumn) -> LoadedEntities:
        """Return entities, and their links to the documents with these paths and types, by row.

        Raises IndexFault.
        """
        if (stored := ENTITIES.map_state(self._store, self._of_entities)) is None:
            entities = EntityColumn(self._read_entities())
            # What lies in the other files has the numbers of entities that were mapped.
            names, links, facts = None, None, None
        else:
            entities = EntityColumn(stored)
            names = NAMES.map_state(self._store, self._of_entities)
            links = LINKS.map_state(self._store, self._of_links)
            facts = FACTS.map_state(self._store, self._of_facts)
        if names is None:
            names = make_names(entities, self._of_entities)
        if links is None:
            links = make_links(
                self._store, entities, paths, kinds, self._of_links, self._documents_state
            )
        return LoadedEntities(entities, names, links, facts)

    def refresh(self, paths: SortedTexts, kinds: CodedColumn) -> None:
        """Write the files again that are missing or of another state. Raises IndexFault.

        For the holder of the writer lock, so that no table changes meanwhile.
        """
        loaded = self.load(paths, kinds)
        if ENTITIES.map_state(self._store, self._of_entities) is None:
            ENTITIES.write(self._store, loaded.entities.stored)
        if NAMES.map_state(self._store, self._of_entities) is None:
            NAMES.write(self._store, loaded.names)
        links = LINKS.map_state(self._store, self._of_links)
        if links is None or not np.array_equal(links.documents, self._documents_state):
            LINKS.write(self._store, replace(loaded.links, documents=self._documents_state))

    def _read_entities(self) -> StoredEntities:
        table = self._store.rows("entities", ENTITY_COLUMNS).sort_by("id")
        return make_entities(_rows(table), self._of_entities)


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(ENTITIES_AT_ONCE):
        yield from batch.to_pylist()


BLOCK_BYTES, BLOCK_ROWS = 1 << 24, 2000
"""Bytes of files, and documents, up to which one block is read at once."""

ROWS_AT_ONCE = 500
"""Rows converted at once."""


def documents_by_path(store: Store, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield path and the given columns of every document, ordered by path. Raises IndexFault."""
    for clause in _clauses(store):
        yield from matching_documents(store, columns, clause)


def matching_documents(
    store: Store, columns: Sequence[str], where: str | None
) -> Iterator[dict[str, Any]]:
    """Yield path and the given columns of documents that match, which are read at once, by path."""
    selected = list(dict.fromkeys(["path", *columns]))
    for batch in store.rows("documents", selected, where).sort_by("path").to_batches(ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _clauses(store: Store) -> Iterator[str | None]:
    """Yield a where clause for each block of documents; None for all of them."""
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


LineRange = tuple[int, int]
"""First and last line of a chunk in its file, 1-based."""


@dataclass(frozen=True, slots=True)
class ChunkLines:
    """The lines of the chunks of one generation."""

    lines: NDArray[np.int32]
    """First and last line of each chunk, by document and position in it, shape (m, 2)."""
    ends: Rows
    """Where each document ends in `lines`, shape (documents,)."""

    def of(self, row: int) -> Sequence[LineRange]:
        """Return the lines of each chunk of the document in this row of the snapshot, in order."""
        start = int(self.ends[row - 1]) if row else 0
        return [(first, last) for first, last in self.lines[start : self.ends[row]].tolist()]


def read_chunk_lines(store: Store, snapshot: Snapshot) -> ChunkLines:
    """Read the lines of all chunks. A document that changed since `snapshot` has none."""
    chunks = store.rows("chunks", ["version", "ordinal", "line_start", "line_end"])
    documents = places_of(chunks["version"], version_array(snapshot.versions))
    order = np.lexsort((chunks["ordinal"].to_numpy(), documents))
    order = order[np.count_nonzero(documents < 0) :]
    lines = np.stack([chunks[name].to_numpy() for name in ("line_start", "line_end")], axis=1)
    counts = np.bincount(documents[order], minlength=len(snapshot.paths))
    del chunks
    release_memory()
    return ChunkLines(lines[order], np.cumsum(counts))
