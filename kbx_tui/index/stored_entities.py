"""What a search needs of every entity besides names, links and vectors.

The files are entities.bin and facts.bin.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Ints, Versions
from kbx_tui.index.derived_files import StateFile
from kbx_tui.index.lexical.postings import Terms, make_postings
from kbx_tui.index.store import Store
from kbx_tui.index.stored_documents import item_key, key_hash
from kbx_tui.index.tables import field_values
from kbx_tui.index.text_columns import (
    ROWS_KEPT,
    ByHash,
    CodedColumn,
    Column,
    ColumnsBuilder,
    RowOfText,
    SortedTexts,
    TextArena,
    TextColumn,
    TextLists,
)
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.languages import LANGUAGES
from kbx_tui.knowledge.records import Entity


class EntityColumn(Column[Entity]):
    """The entities of one generation, ordered by id. Keeps those asked for last."""

    __slots__ = ("_columns", "_kept", "ids", "paths", "row_of", "stored", "types")

    def __init__(self, stored: StoredEntities) -> None:
        self.stored = stored
        self.ids = SortedTexts([stored.ids])
        self.row_of = RowOfText(self.ids)
        self.paths = TextColumn([stored.paths])
        self.types = stored.types
        self._columns: tuple[Column[Any], ...] = (
            self.ids,
            TextColumn([stored.names]),
            self.types,
            self.paths,
            TextLists(TextColumn([stored.aliases])),
            stored.roles,
            stored.teams,
            TextLists(TextColumn([stored.members])),
            TextLists(TextColumn([stored.emails])),
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
        return self.types.flags(kind.__eq__)


class EntitiesById(Mapping[str, Entity]):
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


@dataclass(frozen=True, slots=True)
class StoredEntities:
    state: Versions
    ids: TextArena
    names: TextArena
    paths: TextArena
    aliases: TextArena
    members: TextArena
    emails: TextArena
    """These three as `TextLists`."""
    types: CodedColumn
    roles: CodedColumn
    teams: CodedColumn
    profiles: Versions
    """Hash of the profile of each entity, by which its vector is found."""
    by_id: ByHash
    """The entities by the hash of their id as queries name it (`item_key`)."""

    def __len__(self) -> int:
        return len(self.ids)

    def with_id_key(self, key: str) -> list[int]:
        return self.by_id.find(key_hash(key))


ENTITIES = StateFile("entities", "2", StoredEntities, ("entities",))


def make_entities(rows: Iterable[Mapping[str, Any]], state: Versions) -> StoredEntities:
    """Return the arrays of entities, given by rows of their table ordered by id."""
    builder = ColumnsBuilder(
        texts={"ids": "id", "names": "name", "paths": "path"},
        lists={"aliases": "aliases", "members": "members", "emails": "emails"},
        codes={"types": "type", "roles": "role", "teams": "team"},
    )
    profiles, hashes = list[bytes](), array("Q")
    for row in rows:
        builder.append(row)
        profiles.append(row["text_hash"].encode())
        hashes.append(key_hash(item_key(row["id"])))
    return StoredEntities(
        state=state,
        profiles=np.array(profiles or [], np.bytes_),
        by_id=ByHash.of(hashes, range(len(profiles))),
        **builder.columns(),
    )


@dataclass(frozen=True, slots=True)
class StoredFacts(Terms):
    """Facts ordered by id, with their terms, in arrays of one dimension. Read-only."""

    state: Versions
    entities: Ints
    """The entity of each fact, -1 for one that is gone."""
    texts: TextArena
    active: NDArray[np.uint8]
    """1 for those that can be found; others only count in statistics."""
    language_order: NDArray[np.uint8]
    """Numbers in `LANGUAGES` of those that facts are in, that of most facts first."""

    def __len__(self) -> int:
        return len(self.entities)

    def languages(self) -> list[str]:
        return [LANGUAGES[number] for number in self.language_order.tolist()]


FACTS = StateFile("facts", "2", StoredFacts, ("entities", "facts"))


def make_facts(
    store: Store,
    entities: EntityColumn,
    language_of: Callable[[str], str],
    state: Versions,
) -> StoredFacts:
    """Read the facts of entities; `language_of` gives that of a page by its path."""
    columns = ["fact_id", "entity_id", "text", "status", "path"]
    table = store.rows("facts", columns).sort_by("fact_id")
    texts: list[str] = table["text"].to_pylist()
    paths: list[str] = table["path"].to_pylist()
    owners = [entities.row_of.get(owner, -1) for owner in table["entity_id"].to_pylist()]
    languages = {path: language_of(path) for path in set(paths)}
    postings = make_postings(zip(paths, texts, strict=True), lambda path, _: languages[path])
    numbers, counts = np.unique(postings.languages, return_counts=True)
    return StoredFacts(
        **{field.name: getattr(postings, field.name) for field in fields(Terms)},
        state=state,
        entities=np.array(owners, np.int32),
        texts=TextArena.of(texts),
        active=np.array([each == "active" for each in table["status"].to_pylist()], np.uint8),
        language_order=numbers[np.argsort(-counts, kind="stable")],
    )
