"""Entities by row, decoded when they are asked for, and their rows by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.column import Column
from kbx_tui.index.columns.text_column import (
    ROWS_KEPT,
    RowOfText,
    SortedTexts,
    TextColumn,
    TextLists,
)
from kbx_tui.index.entities.stored_entities import StoredEntities, make_entities
from kbx_tui.index.rows import field_values
from kbx_tui.knowledge.records import Entity

NO_STATE = np.empty(0, "S32")


class EntityColumn(Column[Entity]):
    """The entities of one generation, ordered by id. Keeps those asked for last."""

    __slots__ = ("_columns", "_kept", "ids", "paths", "row_of", "stored", "types")

    def __init__(self, stored: StoredEntities) -> None:
        def texts(name: str) -> TextColumn:
            return TextColumn([stored.arena(name)])

        self.stored = stored
        self.ids = SortedTexts([stored.arena("id")])
        self.row_of = RowOfText(self.ids)
        """Row of each entity by id."""
        self.paths = texts("path")
        self.types = stored.coded("type")
        self._columns: tuple[Column[Any], ...] = (
            self.ids,
            texts("name"),
            self.types,
            self.paths,
            TextLists(texts("alias")),
            stored.coded("role"),
            stored.coded("team"),
            TextLists(texts("member")),
            TextLists(texts("email")),
        )
        """In the order of the fields of Entity."""
        self._kept: dict[int, Entity] = {}

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> Self:
        """Return a column of entities in this order; they are found by id if it is that of ids."""
        rows = ({**field_values(entity), "text_hash": ""} for entity in entities)
        return cls(make_entities(rows, NO_STATE))

    def __len__(self) -> int:
        return len(self.stored)

    def _at(self, row: int) -> Entity:
        if (entity := self._kept.get(row)) is None:
            if len(self._kept) >= ROWS_KEPT:
                self._kept.clear()
            entity = self._kept[row] = Entity(*(column[row] for column in self._columns))
        return entity

    def __iter__(self) -> Iterator[Entity]:
        return map(Entity, *self._columns)

    def with_type(self, kind: str) -> NDArray[np.bool_]:
        """Return which entities are of a type, shape (entities,)."""
        return self.types.flags(kind.__eq__)


class EntitiesById(Mapping[str, Entity]):
    """Entities by id."""

    __slots__ = ("_entities",)

    def __init__(self, entities: EntityColumn) -> None:
        self._entities = entities

    def __getitem__(self, entity_id: str) -> Entity:
        return self._entities[self._entities.row_of[entity_id]]

    def __contains__(self, entity_id: object) -> bool:
        return entity_id in self._entities.row_of

    def __len__(self) -> int:
        return len(self._entities)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities.ids)
