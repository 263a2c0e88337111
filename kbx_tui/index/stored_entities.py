"""What a search needs of every entity besides names, links and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.postings import Postings, make_postings
from kbx_tui.index.store import Store
from kbx_tui.index.stored_documents import item_key, key_hash
from kbx_tui.index.tables import field_values
from kbx_tui.index.text_columns import (
    ROWS_KEPT,
    CodedColumn,
    Column,
    RowOfText,
    SortedTexts,
    TextArena,
    TextColumn,
    TextLists,
)
from kbx_tui.knowledge.languages import ENGLISH, LANGUAGES
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


Bytes = NDArray[np.uint8]
Starts = NDArray[np.int64]
Codes = NDArray[np.int32]

CODED = ("type", "role", "team")
"""Fields of which many entities have the same value."""
LISTS = ("aliases", "members", "emails")


@dataclass(frozen=True, slots=True)
class StoredEntities:
    """Entities ordered by id, in arrays of one dimension. Read-only.

    `..._starts` say where the text of each entity starts in the bytes before; `..._codes` number
    the different texts in the two arrays that follow.
    """

    state: NDArray[np.bytes_]
    """State of the tables that they were read from (`table_state`), shape (1,)."""
    ids: Bytes
    id_starts: Starts
    names: Bytes
    name_starts: Starts
    paths: Bytes
    path_starts: Starts
    aliases: Bytes
    alias_starts: Starts
    members: Bytes
    member_starts: Starts
    emails: Bytes
    email_starts: Starts
    type_codes: Codes
    types: Bytes
    type_starts: Starts
    role_codes: Codes
    roles: Bytes
    role_starts: Starts
    team_codes: Codes
    teams: Bytes
    team_starts: Starts
    profiles: NDArray[np.bytes_]
    """Hash of the profile of each entity, by which its vector is found."""
    id_hashes: NDArray[np.uint64]
    """Hashes of the ids as queries name them (`item_keys`), ascending."""
    id_entities: NDArray[np.int32]
    """The entity that has each of `id_hashes`."""

    def __len__(self) -> int:
        return len(self.id_starts) - 1

    def arena(self, name: str) -> TextArena:
        """Return a column of texts: `id`, `name`, `path`, `alias`, `member`, `email`."""
        plural = "aliases" if name == "alias" else f"{name}s"
        return TextArena(getattr(self, plural), getattr(self, f"{name}_starts"))

    def with_id_key(self, key: str) -> list[int]:
        """Return the entities whose id is a query's, as `item_key` writes it."""
        return numbers_with(self.id_hashes, self.id_entities, key_hash(key))

    def coded(self, name: str) -> CodedColumn:
        """Return the column `type`, `role` or `team`."""
        values = TextArena(getattr(self, f"{name}s"), getattr(self, f"{name}_starts"))
        return CodedColumn(getattr(self, f"{name}_codes"), tuple(values))


def make_entities(rows: Iterable[Mapping[str, Any]], state: NDArray[np.bytes_]) -> StoredEntities:
    """Return the arrays of entities, given by rows of their table ordered by id."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "name", "path", "text_hash", *CODED, *LISTS)
    }
    for row in rows:
        for name, values in columns.items():
            values.append(row[name])
    arrays: dict[str, Any] = {}
    for name in ("id", "name", "path"):
        arena = TextArena.of(columns[name])
        arrays |= {f"{name}s": arena.data, f"{name}_starts": arena.starts}
    for plural, name in zip(LISTS, ("alias", "member", "email"), strict=True):
        arena = TextArena.of(map(TextLists.joined, columns[plural]))
        arrays |= {plural: arena.data, f"{name}_starts": arena.starts}
    for name in CODED:
        column = CodedColumn.of(columns[name])
        arena = TextArena.of(column.values)
        arrays |= {
            f"{name}_codes": column.codes,
            f"{name}s": arena.data,
            f"{name}_starts": arena.starts,
        }
    hashes = np.array([key_hash(item_key(each)) for each in columns["id"]], np.uint64)
    order = np.argsort(hashes, kind="stable")
    return StoredEntities(
        state=state,
        profiles=np.array(columns["text_hash"], dtype=np.bytes_),
        id_hashes=hashes[order],
        id_entities=order.astype(np.int32),
        **arrays,
    )


def numbers_with(hashes: NDArray[np.uint64], numbers: Codes, wanted: int) -> list[int]:
    """Return the numbers beside a hash among ascending ones."""
    sought = np.uint64(wanted)
    start = int(hashes.searchsorted(sought))
    if start == len(hashes) or hashes[start] != sought:
        return []
    return list(numbers[start : int(hashes.searchsorted(sought, "right"))].tolist())


Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """Facts ordered by id, in arrays of one dimension. Read-only.

    What Postings has too is as there, with facts as texts.
    """

    state: NDArray[np.bytes_]
    """State of the tables that they were read from (`table_state`), shape (1,)."""
    entities: Ints
    """The entity of each fact, -1 for one that is gone."""
    texts: Bytes
    starts: Starts
    active: NDArray[np.uint8]
    """1 for those that can be found; others only count in statistics."""
    language_order: NDArray[np.uint8]
    """Numbers in `LANGUAGES` of those that facts are in, that of most facts first."""
    lengths: Ints
    term_bytes: Bytes
    term_byte_starts: Starts
    posting_starts: Ints
    doc_ids: Ints
    term_frequencies: Ints

    def __len__(self) -> int:
        return len(self.entities)

    def text_column(self) -> TextColumn:
        """Return the texts of the facts."""
        return TextColumn([TextArena(self.texts, self.starts)])

    def languages(self) -> list[str]:
        """Return the languages that facts are in, that of most facts first."""
        return [LANGUAGES[number] for number in self.language_order.tolist()]

    def postings(self) -> Postings:
        """Return the postings of the facts, without positions."""
        nowhere = np.empty(0, np.int32)
        return Postings(
            versions=np.empty(0, "S32"),
            languages=np.empty(0, np.uint8),
            lengths=self.lengths,
            text_starts=np.empty(0, np.int64),
            term_bytes=self.term_bytes,
            term_byte_starts=self.term_byte_starts,
            posting_starts=self.posting_starts,
            doc_ids=self.doc_ids,
            term_frequencies=self.term_frequencies,
            position_starts=nowhere,
            positions=nowhere,
        )


def make_facts(
    store: Store,
    entities: EntityColumn,
    languages_of: Callable[[Iterable[str]], Mapping[str, str]],
    state: NDArray[np.bytes_],
) -> StoredFacts:
    """Read the facts of entities. `languages_of` returns the languages of pages, by their path.

    Raises IndexFault.
    """
    columns = ["fact_id", "entity_id", "text", "status", "path"]
    table = store.rows("facts", columns).sort_by("fact_id")
    texts: list[str] = table["text"].to_pylist()
    paths: list[str] = table["path"].to_pylist()
    owners = [entities.row_of.get(owner, -1) for owner in table["entity_id"].to_pylist()]
    languages = languages_of(set(paths))
    postings = make_postings(
        zip(paths, texts, strict=True), lambda path, _: languages.get(path, ENGLISH)
    )
    numbers, counts = np.unique(postings.languages, return_counts=True)
    arena = TextArena.of(texts)
    return StoredFacts(
        state=state,
        entities=np.array(owners, np.int32),
        texts=arena.data,
        starts=arena.starts,
        active=np.array([each == "active" for each in table["status"].to_pylist()], np.uint8),
        language_order=numbers[np.argsort(-counts, kind="stable")],
        lengths=postings.lengths,
        term_bytes=postings.term_bytes,
        term_byte_starts=postings.term_byte_starts,
        posting_starts=postings.posting_starts,
        doc_ids=postings.doc_ids,
        term_frequencies=postings.term_frequencies,
    )
