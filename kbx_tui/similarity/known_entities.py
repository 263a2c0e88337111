"""The entities of the newest index generation, as similarity checks look them up."""

from __future__ import annotations

from collections.abc import Mapping

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.entity_finder import EntityFinder
from kbx_tui.similarity.field_values import FieldValues
from kbx_tui.similarity.subject_index import SubjectIndex


class KnownEntities:
    """Entities by id, by name, and by the name a text begins with; and what their fields hold.

    Every method reads the newest generation.
    """

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self._snapshot: Snapshot | None = None
        self._finder, self._subjects = EntityFinder(()), SubjectIndex(())
        self._by_id: Mapping[str, Entity] = {}
        self._names: dict[str, str] = {}
        self._fields = FieldValues(index, ())

    def find(self, name: str) -> Entity:
        """Return the entity with a name, alias or id. Raises NotFound and Ambiguous."""
        self._refresh()
        return self._finder.find(name)

    def get(self, entity_id: str) -> Entity | None:
        """Return the entity with an id, None if there is none."""
        self._refresh()
        return self._by_id.get(entity_id)

    def names(self) -> dict[str, str]:
        """Return the names of all entities by id."""
        self._refresh()
        return self._names

    def subject_of(self, text: str) -> Entity | None:
        """Return the entity that a text is about, by the name it begins with."""
        self._refresh()
        return self._subjects.subject_of(text)

    def fields(self) -> FieldValues:
        """Return the values of all fields."""
        self._refresh()
        return self._fields

    def _refresh(self) -> None:
        generation = self._index.generation()
        snapshot = generation.snapshot
        if snapshot is not self._snapshot:
            self._finder, self._snapshot = EntityFinder(snapshot.entities), snapshot
            self._subjects = SubjectIndex(snapshot.entities)
            self._by_id = generation.entities
            self._names = {entity.id: entity.name for entity in snapshot.entities}
            self._fields = FieldValues(self._index, snapshot.entities)
