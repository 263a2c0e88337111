"""Loading of entities, names and links of the newest generation, and refreshing of their files.

What the files lack is read from the tables: after a killed run, or while one is writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index import rows
from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.index.columns.text_column import SortedTexts
from kbx_tui.index.columns.versions import VersionArray
from kbx_tui.index.derived_files import ENTITIES, FACTS, LINKS, NAMES
from kbx_tui.index.entities.entity_column import NO_STATE, EntityColumn
from kbx_tui.index.entities.make_names import make_names
from kbx_tui.index.entities.stored_entities import StoredEntities, make_entities
from kbx_tui.index.entities.stored_facts import StoredFacts
from kbx_tui.index.entities.stored_links import StoredLinks, make_links
from kbx_tui.index.entities.stored_names import StoredNames
from kbx_tui.index.entities.table_state import (
    ENTITY_TABLES,
    FACT_TABLES,
    LINK_TABLES,
    table_state,
)
from kbx_tui.index.store import Store
from kbx_tui.knowledge.records import Entity

BATCH = 1000
"""Entities converted at once."""

ENTITY_COLUMNS = [*rows.ENTITY_COLUMNS, "text_hash"]


def stored_entities(store: Store) -> list[Entity]:
    """Return the entities in the index, ordered by id."""
    table = store.rows("entities", rows.ENTITY_COLUMNS)
    return sorted(map(rows.entity_from_row, table.to_pylist()), key=lambda entity: entity.id)


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
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()
