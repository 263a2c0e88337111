"""Documents, bodies, entities and facts as arrays, for searches.

The files are documents.bin, bodies.bin, entities.bin and facts.bin. Words, vectors, names and links
have files of their own.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from hashlib import blake2b
from itertools import islice
from typing import Any, Literal, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import ArrayWriter
from kbx_tui.index.arrays import Bytes, Hashes, Ints, Rows, Starts, Versions
from kbx_tui.index.derived_files import DocumentFile, StateFile
from kbx_tui.index.lexical.postings import Terms, make_postings
from kbx_tui.index.store import Store
from kbx_tui.index.tables import field_values
from kbx_tui.index.text_columns import (
    ROWS_KEPT,
    ByHash,
    CodeBuilder,
    CodedColumn,
    Column,
    ColumnsBuilder,
    RowOfText,
    SortedTexts,
    TextArena,
    TextArenaBuilder,
    TextColumn,
    TextLists,
)
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.fields import folder_name, page_name, properties_of
from kbx_tui.knowledge.folding import LANGUAGES, fold, name_key
from kbx_tui.knowledge.records import Entity

COLUMNS = [
    *("path", "id", "title", "date", "kind", "tags", "attendees", "aliases", "speakers"),
    *("frontmatter", "version"),
]


@dataclass(frozen=True, slots=True)
class StoredDocuments:
    """Documents ordered by path. Read-only."""

    versions: Versions
    state: Versions
    """The state of the table whose documents the files hold, all and no others; shape (1,)."""
    gone: Ints
    """In documents-new.bin: the documents of documents.bin that are no longer in the index."""
    paths: TextArena
    ids: TextArena
    """Ids that documents have of their own; for the page of an entity, use the entity's id."""
    titles: TextArena
    attendees: TextArena
    tags: TextArena
    aliases: TextArena
    speakers: TextArena
    properties: TextArena
    """`tags`, `aliases`, `speakers` and `properties` (`properties_of`) hold `TextLists`."""
    dates: CodedColumn
    kinds: CodedColumn
    property_keys: CodedColumn
    """The distinct keys of `properties`, joined as those are: most documents have the same ones."""
    by_key: ByHash
    """By the hash of each key that names a document in full: 8 times the document, an index into
    `versions`, plus the kind of key, an index into `KINDS`."""

    def __len__(self) -> int:
        return len(self.versions)

    def items(self, key: str) -> list[tuple[int, int]]:
        return [(found % 8, found // 8) for found in self.by_key.find(key_hash(key))]


DOCUMENTS = DocumentFile("documents", "6", StoredDocuments)


@dataclass(frozen=True, slots=True)
class DocumentSegment:
    """Some documents of a generation: those mapped from documents.bin, or the newer ones."""

    documents: StoredDocuments
    rows: Rows
    """The row of each document in the generation, -1 if it is not part of it."""

    @classmethod
    def of(cls, documents: StoredDocuments) -> Self:
        return cls(documents, np.arange(len(documents)))


def places_by_row(segments: Sequence[DocumentSegment]) -> Rows | None:
    """Return the document of each row, numbered across all segments; None: row i is document i."""
    if len(segments) == 1 and np.array_equal(segments[0].rows, np.arange(len(segments[0].rows))):
        return None
    rows = np.concatenate([segment.rows for segment in segments])
    kept = np.flatnonzero(rows >= 0)
    places = np.empty(len(kept), np.int64)
    places[rows[kept]] = kept
    return places


def make_documents(
    rows: Iterable[Mapping[str, Any]], state: Versions = NO_STATE
) -> StoredDocuments:
    """Return the arrays of documents; `rows` have `COLUMNS` and are ordered by path."""
    builder = ColumnsBuilder(
        texts={"paths": "path", "ids": "id", "titles": "title", "attendees": "attendees"},
        lists={"tags": "tags", "aliases": "aliases", "speakers": "speakers"},
        codes={"dates": "date", "kinds": "kind"},
    )
    properties, property_keys, versions = TextArenaBuilder(), CodeBuilder(), list[bytes]()
    hashes, found = array("Q"), array("i")
    for row in rows:
        builder.append(row)
        values = list(properties_of(msgspec.json.decode(row["frontmatter"])))
        properties.append(TextLists.joined(values))
        keys = dict.fromkeys(each.partition("=")[0] for each in values)
        property_keys.append(TextLists.joined(keys))
        names = row["path"], row["id"], row["title"], row["date"], row["aliases"]
        for kind, key in item_keys(*names):
            hashes.append(key_hash(key))
            found.append(8 * len(versions) + kind)
        versions.append(row["version"].encode())
    return StoredDocuments(
        versions=np.array(versions or [], np.bytes_),
        state=state,
        gone=np.empty(0, np.int32),
        properties=properties.arena(),
        property_keys=property_keys.column(),
        by_key=ByHash.of(hashes, found),
        **builder.columns(),
    )


ItemKind = Literal["path", "id", "title", "date"]

KINDS: tuple[ItemKind, ...] = ("path", "id", "title", "date", "title", "title", "path", "title")
"""The kind of key by its number. The last four are a part of a title, the number before it as in
`INC-0117: the outage`; its words without punctuation; the name of the file, or the number with
which that begins, as in `INC-0117-outage.md`; and an alias with a digit, such as a citation key."""

EXTRA = 4
_NUMBER_OF_NAME = re.compile(
    r"(?:(?P<series>[^\W\d_]{2,})[-_ ]?)?(?P<zeros>0*)(?P<number>\d{1,6})(?=[-_ .]|\Z)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")


def item_key(text: str) -> str:
    """Return the key of a path, id, title or date; empty if nothing is left of the text."""
    return " ".join(fold(text).split()).strip("/")


def item_keys(
    path: str, document_id: str, title: str, date: str, aliases: Iterable[str]
) -> Iterator[tuple[int, str]]:
    of_title = item_key(title)
    keys = (item_key(path), item_key(document_id), of_title, item_key(date))
    yield from ((number, key) for number, key in enumerate(keys) if key)
    before, colon, _ = title.partition(": ")
    if colon and any(map(str.isdigit, before)):
        yield EXTRA, item_key(before)
    words = name_key(title)  # `Plan: an evening` is found by `plan an evening`
    if " " in words and words != of_title:
        yield EXTRA + 1, words
    name = page_name(path)
    of_name = dict.fromkeys((item_key(name), name_key(name), *_numbers_of(name, path)))
    yield from ((EXTRA + 2, key) for key in of_name if key not in ("", *keys))
    of_aliases = (item_key(alias.removeprefix("@")) for alias in aliases)
    yield from ((EXTRA + 3, key) for key in dict.fromkeys(of_aliases) if key not in ("", *keys))


def _numbers_of(name: str, path: str) -> Iterator[str]:
    """Yield the spellings of the number with which a name begins, with zeros and without.

    A number alone is one of the series of its folder: `adr/0007-use-queues.md` is `ADR 7`.
    """
    if (found := _NUMBER_OF_NAME.match(name)) and not _YEAR.fullmatch(found["number"]):
        whole, folder = found["zeros"] + found["number"], f"/{path}".split("/")[-2]
        series = found["series"] or folder_name(folder).removesuffix("s")
        for number in (whole, found["number"]):
            yield from (f"{fold(series)}{gap}{number}" for gap in ("-", " ", "") if series)
        if not found["series"] and len(whole) > 2:  # more than a place in an order
            yield whole


def key_hash(key: str) -> int:
    """Return a 64-bit hash of a key; among five million, a collision has probability 1e-6."""
    return int.from_bytes(_digest(key), "little")


def key_hashes(keys: Iterable[str]) -> Hashes:
    """Return the hash of each key, as `key_hash` does."""
    return np.frombuffer(b"".join(map(_digest, keys)), "<u8")


def _digest(key: str) -> bytes:
    return blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()


BODY_COLUMNS = ["version", "body", "body_line"]

Body = tuple[str, int]
"""The text below the frontmatter, and the 1-based line of the file where it starts."""


@dataclass(frozen=True, slots=True)
class Bodies:
    versions: Versions
    compressed: Bytes
    """All bodies in UTF-8, each compressed as one LZ4 block."""
    starts: Starts
    """Where each body starts in `compressed`, shape (documents + 1,)."""
    sizes: Ints
    first_lines: Ints

    def __getitem__(self, doc_id: int) -> Body:
        starts = self.starts.data  # indexing and slicing arrays is slow
        block = self.compressed.data[starts[doc_id] : starts[doc_id + 1]]
        text = lz4().decompress(block, int(self.sizes[doc_id]), asbytes=True)
        return text.decode(), int(self.first_lines[doc_id])


BODIES = DocumentFile("bodies", "4", Bodies)


def write_bodies(file: ArrayWriter, documents: Iterable[Mapping[str, Any]]) -> None:
    versions, lengths, sizes, lines = list[bytes](), array("q", [0]), array("i"), array("i")

    def blocks() -> Iterator[Bytes]:
        for row in documents:
            text = row["body"].encode("utf-8", "replace")
            block = lz4().compress(text, asbytes=True)
            versions.append(row["version"].encode())
            lengths.append(len(block))
            sizes.append(len(text))
            lines.append(row["body_line"])
            yield np.frombuffer(block, np.uint8)

    file.append("compressed", blocks())
    file.add("versions", np.array(versions or [], np.bytes_))
    file.add("starts", np.cumsum(lengths, dtype=np.int64))
    file.add("sizes", np.array(sizes, np.int32))
    file.add("first_lines", np.array(lines, np.int32))


@cache
def lz4() -> Any:
    import pyarrow as pa  # slow to import

    return pa.Codec("lz4_raw")


class EntityColumn(Column[Entity]):
    """The entities of one generation, ordered by id. Caches the last used."""

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
        """The columns in the order of the fields of `Entity`."""
        self._kept: dict[int, Entity] = {}

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> Self:
        """Return a column of entities in the given order; lookup by id needs them ordered by id."""
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

    def pages_naming(self, entity: Entity) -> tuple[str, ...]:
        """Return the path of an entity's page; without one, those of some of its members."""
        members = (self[each].path for each in entity.members if each in self)
        return (entity.path,) if entity.path else tuple(islice(filter(None, members), PAGES_READ))


PAGES_READ = 5
"""Pages read again, at most, to learn whether a name that several pages hold is still public."""


@dataclass(frozen=True, slots=True)
class StoredEntities:
    state: Versions
    ids: TextArena
    names: TextArena
    paths: TextArena
    aliases: TextArena
    members: TextArena
    emails: TextArena
    """`aliases`, `members` and `emails` hold `TextLists`."""
    types: CodedColumn
    roles: CodedColumn
    teams: CodedColumn
    profiles: Versions
    """The hash of each entity's profile: the key of its vector."""
    by_id: ByHash
    """The entities by the hash of their id's key (`item_key`)."""

    def __len__(self) -> int:
        return len(self.ids)

    def with_id_key(self, key: str) -> list[int]:
        return self.by_id.find(key_hash(key))


ENTITIES = StateFile("entities", "2", StoredEntities, ("entities",))


def make_entities(rows: Iterable[Mapping[str, Any]], state: Versions) -> StoredEntities:
    """Return the arrays of entities; `rows` are those of their table, ordered by id."""
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
    """Facts ordered by id, with their terms, in one-dimensional arrays. Read-only."""

    state: Versions
    entities: Ints
    """The entity of each fact, -1 for an entity that is gone."""
    texts: TextArena
    active: NDArray[np.uint8]
    """1 for facts that can be found; others only count in statistics."""
    language_order: NDArray[np.uint8]
    """The languages of the facts as indices into `LANGUAGES`, the most frequent first."""

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
    """Read the facts of entities; `language_of` returns the language of a page, given its path."""
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
