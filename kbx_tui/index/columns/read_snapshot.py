"""Reading of the snapshot of the newest generation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.index.columns.id_column import IdColumn
from kbx_tui.index.columns.load_documents import load_documents
from kbx_tui.index.columns.released_memory import release_memory
from kbx_tui.index.columns.stored_documents import DocumentSegment, places_of
from kbx_tui.index.columns.text_column import RowOfText, SortedTexts, TextColumn, TextLists
from kbx_tui.index.columns.versions import Versions
from kbx_tui.index.derived_files import DOCUMENTS, LINKS
from kbx_tui.index.entities.entity_column import NO_STATE
from kbx_tui.index.entities.load_entities import EntityFiles
from kbx_tui.index.entities.mapped_links import EntityPages, LinksByEntity, NameUses
from kbx_tui.index.entities.table_state import DOCUMENT_TABLES, table_state
from kbx_tui.index.snapshot import Rows, Snapshot
from kbx_tui.index.store import Store


@dataclass(frozen=True, slots=True)
class _Documents:
    """The documents of the newest generation, as the files of entities need them."""

    segments: Sequence[DocumentSegment]
    places: Rows | None
    paths: SortedTexts
    versions: Versions

    @classmethod
    def load(cls, store: Store, *, is_current: bool = False) -> Self:
        segments = load_documents(store, is_current=is_current)
        places = places_of(segments)
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
    links_file, state = LINKS.map(store), table_state(DOCUMENT_TABLES, numbers, meta)
    is_current = links_file is not None and np.array_equal(links_file.documents, state)
    documents = _Documents.load(store, is_current=is_current)
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
