"""Documents, entities and links of one generation of the index: immutable, read once.

Documents are rows ordered by path, entities rows ordered by id. What a search needs of them stays
in mapped arrays, their text on disk. What the files lack is read from the tables: after a killed
run, or while one is writing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index import tables
from kbx_tui.index.arrays import Flags, Ints, Rows, Scores, Starts, Versions
from kbx_tui.index.derived_files import StateFile, is_few
from kbx_tui.index.store import Store, batched_clauses, quoted
from kbx_tui.index.stored_names import NAMES, StoredNames, make_names
from kbx_tui.index.stored_records import (
    COLUMNS,
    DOCUMENTS,
    ENTITIES,
    FACTS,
    DocumentSegment,
    EntityColumn,
    StoredDocuments,
    StoredEntities,
    StoredFacts,
    make_documents,
    make_entities,
    places_by_row,
)
from kbx_tui.index.text_columns import (
    CodedColumn,
    Column,
    RowOfText,
    SortedTexts,
    TextArena,
    TextColumn,
    TextLists,
)
from kbx_tui.index.versions import are_among, places_of, stored_versions, table_state
from kbx_tui.knowledge.records import Entity, LinkKind
from kbx_tui.system import release_memory

LINK_KINDS: tuple[LinkKind, ...] = (
    "own_page", "attendee", "frontmatter", "title", "wikilink", "mention", "member"
)  # fmt: skip
"""Kinds of links, strongest first; a link is stored with the number of its kind."""


@dataclass(frozen=True, slots=True)
class EntityLinks:
    """The links of one entity as parallel columns, sorted by document row."""

    rows: Rows
    """Document rows; a row repeats for each kind of link."""
    kinds: NDArray[np.uint8]
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NameVotes:
    """How many documents use a word as a name, and as a word; one that does both counts in part."""

    as_name: float
    as_word: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    paths: Sequence[str]
    ids: Sequence[str]
    titles: Sequence[str]
    dates: Sequence[str]
    kinds: Sequence[str]
    tags: Sequence[tuple[str, ...]]
    attendees: Sequence[str]
    """Attendees or authors of each document, as stored: JSON, decoded on demand."""
    row_of: Mapping[str, int]
    entities: EntityColumn
    links: LinksByEntity
    name_uses: NameUses
    entity_pages: EntityPages
    names: StoredNames
    properties: TextLists
    """Texts `key=value` of each document's frontmatter (`fields.properties_of`)."""
    property_keys: CodedColumn
    """The distinct keys of each document's properties, joined as `TextLists` are."""
    versions: Versions
    facts: StoredFacts | None = None
    """None where they have to be read from their table."""
    aliases: Sequence[tuple[str, ...]] = ()
    speakers: Sequence[tuple[str, ...]] = ()
    is_vault: bool = False
    conventions: Mapping[str, Any] | None = None
    """How the pages were read, as table meta has it; None if it does not say so."""
    segments: tuple[DocumentSegment, ...] = ()
    """The arrays that the columns are views of."""


def generation_of(versions: Mapping[str, int]) -> int:
    """Return the generation of the index: the sum of its table versions, raised by every write."""
    return sum(versions.values())


class LinksByEntity:
    """The links of entities by id: a range of the arrays each."""

    def __init__(self, links: StoredLinks, entities: EntityColumn) -> None:
        self.stored, self._entities = links, entities

    def get(self, entity_id: str) -> EntityLinks | None:
        """Return the links of an entity; None if it has none."""
        number = self._entities.row_of.get(entity_id)
        return None if number is None else self._of(*self.stored.starts[number : number + 2])

    def items(self) -> Iterator[tuple[str, EntityLinks]]:
        """Yield the entities that have links, in order, with these."""
        for entity_id, bounds in zip(
            self._entities.ids, pairwise(self.stored.starts.tolist()), strict=True
        ):
            if links := self._of(*bounds):
                yield entity_id, links

    def _of(self, start: int, end: int) -> EntityLinks | None:
        part, stored = slice(start, end), self.stored
        if start == end:
            return None
        return EntityLinks(
            stored.rows[part].astype(np.int64), stored.kinds[part], stored.counts[part]
        )

    def counts(self) -> Rows:
        """Return the number of links of each entity, shape (entities,)."""
        counts: Rows = np.diff(self.stored.starts)
        return counts

    def entities_of(self, row: int) -> Rows:
        """Return the entities, by row and ascending, that a document is linked to."""
        places = np.flatnonzero(self.stored.rows == row)
        return np.unique(self.stored.starts.searchsorted(places, "right") - 1)


class EntityPages:
    """The ids of the entities whose pages are documents, by row of the document."""

    def __init__(self, links: StoredLinks, entities: EntityColumn) -> None:
        self._links, self._entities = links, entities
        self.rows, self.own = links.paged_rows, links.own_pages

    def with_id_key(self, key: str) -> list[int]:
        """Return the pages of the entities whose id is a query's, as `item_key` writes it."""
        numbers = self._entities.stored.with_id_key(key)
        rows = [(number, int(self._links.page_rows[number])) for number in numbers]
        return [row for number, row in rows if row >= 0 and self._entity(row) == number]

    def get(self, row: int) -> str | None:
        number = self._entity(row)
        return self._entities.ids[number] if number >= 0 else None

    def __contains__(self, row: int) -> bool:
        return self._entity(row) >= 0

    def _entity(self, row: int) -> int:
        place = int(self.rows.searchsorted(row))
        is_page = place < len(self.rows) and self.rows[place] == row
        return int(self._links.paged_entities[place]) if is_page else -1

    def items(self) -> Iterator[tuple[int, str]]:
        """Yield rows and ids, ascending by row."""
        ids = map(self._entities.ids.__getitem__, self._links.paged_entities.tolist())
        return zip(self.rows.tolist(), ids, strict=True)


class IdColumn(Column[str]):
    """The ids of documents by row: the page of an entity has the entity's. Immutable."""

    __slots__ = ("_ids", "_pages")

    def __init__(self, ids: Sequence[str], pages: EntityPages) -> None:
        self._ids, self._pages = ids, pages

    def __len__(self) -> int:
        return len(self._ids)

    def _at(self, row: int) -> str:
        return self._pages.get(row) or self._ids[row]

    def __iter__(self) -> Iterator[str]:
        of_pages = dict(self._pages.items())
        return (of_pages.get(row, own) for row, own in enumerate(self._ids))


class NameUses(Mapping[str, NameVotes]):
    """How the documents use the words that are also names, by folded word."""

    def __init__(self, links: StoredLinks) -> None:
        self._links = links
        self._row_of = RowOfText(SortedTexts([links.words]))

    def __getitem__(self, word: str) -> NameVotes:
        row = self._row_of[word]
        return NameVotes(float(self._links.as_name[row]), float(self._links.as_word[row]))

    def __contains__(self, word: object) -> bool:
        return word in self._row_of

    def __len__(self) -> int:
        return len(self._row_of)

    def __iter__(self) -> Iterator[str]:
        return iter(self._row_of)


@dataclass(frozen=True, slots=True)
class StoredLinks:
    state: Versions
    starts: Starts
    """Where the links of each entity start in the next three, shape (entities + 1,)."""
    rows: Ints
    """The document of each link: those of one entity ascending."""
    kinds: NDArray[np.uint8]
    counts: Ints
    page_rows: Ints
    """The document that is the page of each entity, -1 for none, shape (entities,)."""
    paged_rows: Ints
    """The documents that are pages of entities, ascending."""
    paged_entities: Ints
    """The entity of each of `paged_rows`; the last one where several have the same page."""
    own_pages: Ints
    """Those of `paged_rows` that are about one entity, not notes that are topics as well."""
    words: TextArena
    as_name: Scores
    as_word: Scores


LINKS = StateFile("links", "2", StoredLinks, ("entities", "links", "name_uses"))


def make_links(
    store: Store,
    entities: EntityColumn,
    paths: SortedTexts,
    kinds: CodedColumn,
    state: Versions,
) -> StoredLinks:
    all_paths = paths.to_arrow()
    pages = places_of(entities.paths.to_arrow(), all_paths).astype(np.int32)
    paged = np.flatnonzero(pages >= 0)
    last_first = paged[::-1]
    paged_rows, first = np.unique(pages[last_first], return_index=True)
    return StoredLinks(
        state=state,
        page_rows=pages,
        paged_rows=paged_rows,
        paged_entities=last_first[first].astype(np.int32),
        own_pages=_own_pages(entities, kinds, paged, pages),
        **_links(store, entities, all_paths),
        **_name_uses(store),
    )


def _own_pages(entities: EntityColumn, kinds: CodedColumn, paged: Rows, pages: Ints) -> Ints:
    """Return the pages that have the type of their entity, or are those of people."""
    kind_codes = {kind: code for code, kind in enumerate(kinds.values)}
    codes = [kind_codes.get(kind, -1) for kind in entities.types.values]
    of_entity = np.array(codes, np.int64)[entities.types.codes[paged]]
    is_own = (of_entity == kinds.codes[pages[paged]]) | entities.with_type("person")[paged]
    return np.unique(pages[paged][is_own])


def _links(store: Store, entities: EntityColumn, paths: Any) -> dict[str, Any]:
    table = store.rows("links", ["entity_id", "path", "kind", "count"])
    owners = places_of(table["entity_id"].cast("large_string"), entities.ids.to_arrow())
    documents = places_of(table["path"].cast("large_string"), paths)
    names = table["kind"].dictionary_encode().combine_chunks()
    numbers = np.array([LINK_KINDS.index(kind) for kind in names.dictionary.to_pylist()], np.uint8)
    order = np.lexsort((documents, owners))
    order = order[(documents[order] >= 0) & (owners[order] >= 0)]
    return {
        "starts": np.searchsorted(owners[order], np.arange(len(entities) + 1)),
        "rows": documents[order].astype(np.int32),
        "kinds": numbers[names.indices.to_numpy()[order]],
        "counts": table["count"].to_numpy()[order],
    }


def _name_uses(store: Store) -> dict[str, Any]:
    table = store.rows("name_uses", ["word", "as_name", "as_word"])
    words = table["word"].dictionary_encode().combine_chunks()  # texts of 2 GiB are not combined
    names, others = (table[name].to_numpy().astype(float) for name in ("as_name", "as_word"))
    share, codes = names / np.maximum(names + others, 1.0), words.indices.to_numpy()
    texts = words.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    return {
        "words": TextArena.of(texts[number] for number in order),
        "as_name": np.bincount(codes, share, len(texts))[order],
        "as_word": np.bincount(codes, 1.0 - share, len(texts))[order],
    }


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
    documents = _Documents.load(store, table_state(("documents",), numbers, meta))
    paths, kinds = documents.paths, documents.coded("kinds")
    versions = documents.versions
    state = ENTITIES.state(numbers, meta)
    names: StoredNames | None = None
    links: StoredLinks | None = None
    facts: StoredFacts | None = None
    links_state = LINKS.state(numbers, meta, versions)
    if (stored := ENTITIES.map_state(store, state)) is None:
        stored = _read_entities(store, state)  # other files have the numbers of those mapped
    else:
        names = NAMES.map_state(store, state)
        links = LINKS.map_state(store, links_state)
        facts = FACTS.map_state(store, FACTS.state(numbers, meta))
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
        properties=TextLists(documents.texts("properties")),
        property_keys=documents.coded("property_keys"),
        speakers=TextLists(documents.texts("speakers")),
        is_vault=bool(meta.get("is_vault")),
        conventions=meta.get("conventions"),
        versions=versions,
        segments=tuple(documents.segments),
        entity_pages=entity_pages,
        names=names or make_names(entities, state),
        facts=facts,
    )


def indexed_versions(store: Store) -> dict[str, str]:
    documents = _Documents.load(store, _documents_state(store))
    versions = (version.decode() for version in documents.versions.tolist())
    return dict(zip(documents.paths, versions, strict=True))


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
    """Yield path, version and other columns of documents by path, a block in memory at a time."""
    selected = list(dict.fromkeys(["path", "version", *columns]))
    if versions is not None and is_few(len(versions), store.count("documents")):
        texts = [version.decode() for version in versions.tolist()]
        clauses = batched_clauses("version", texts, LISTED_AT_ONCE)
        rows = [row for clause in clauses for row in _matching(store, selected, clause)]
        yield from sorted(rows, key=lambda row: row["path"].encode())
        return
    wanted = None if versions is None else set(versions.tolist())
    for clause in _clauses_of_blocks(store):
        for row in _matching(store, selected, clause):
            if wanted is None or row["version"].encode() in wanted:
                yield row


def _matching(store: Store, columns: list[str], where: str | None) -> Iterator[dict[str, Any]]:
    table = store.rows("documents", columns, where).sort_by("path")
    for batch in table.to_batches(LISTED_AT_ONCE):
        yield from batch.to_pylist()


def _clauses_of_blocks(store: Store) -> Iterator[str | None]:
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
    return table_state(("documents",), store.versions(), store.meta())


def _read_entities(store: Store, state: Versions) -> StoredEntities:
    table = store.rows("entities", [*tables.ENTITY_COLUMNS, "text_hash"]).sort_by("id")
    batches = table.to_batches(LISTED_AT_ONCE)
    return make_entities((row for batch in batches for row in batch.to_pylist()), state)
