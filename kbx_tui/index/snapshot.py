"""Documents, entities and links of one generation of the index: immutable, read once.

Documents are rows ordered by path, entities rows ordered by id. What a search needs of them stays
in mapped arrays, their text on disk. Links are those of links.bin.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Ints, Rows, Scores, Starts, Versions
from kbx_tui.index.derived_files import StateFile
from kbx_tui.index.store import Store
from kbx_tui.index.stored_documents import DocumentSegment
from kbx_tui.index.stored_entities import EntityColumn, StoredFacts
from kbx_tui.index.stored_names import StoredNames
from kbx_tui.index.text_columns import CodedColumn, Column, RowOfText, SortedTexts, TextArena
from kbx_tui.index.versions import places_of
from kbx_tui.knowledge.records import LinkKind

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
    facts: StoredFacts | None = None
    """None where they have to be read from their table."""
    aliases: Sequence[tuple[str, ...]] = ()
    is_vault: bool = False
    versions: Sequence[str] = ()
    segments: tuple[DocumentSegment, ...] = ()
    """The arrays that the columns are views of."""


def generation_of(versions: Mapping[str, int]) -> int:
    """Return the generation of the index: the sum of its table versions, raised by every write."""
    return sum(versions.values())


class LinksByEntity(Mapping[str, EntityLinks]):
    """The links of entities by id, without entities that have none: a range of the arrays each."""

    __slots__ = ("_entities", "stored")

    def __init__(self, links: StoredLinks, entities: EntityColumn) -> None:
        self.stored, self._entities = links, entities

    def __getitem__(self, entity_id: str) -> EntityLinks:
        start, end = self._range(entity_id)
        if start == end:
            raise KeyError(entity_id)
        links = self.stored
        rows = links.rows[start:end].astype(np.int64)
        return EntityLinks(rows, links.kinds[start:end], links.counts[start:end])

    def __contains__(self, entity_id: object) -> bool:
        start, end = self._range(entity_id)
        return start < end

    def _range(self, entity_id: object) -> tuple[int, int]:
        number = self._entities.row_of.get(entity_id, -1) if isinstance(entity_id, str) else -1
        starts = self.stored.starts
        return (int(starts[number]), int(starts[number + 1])) if number >= 0 else (0, 0)

    def counts(self) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.diff(self.stored.starts)
        return counts

    def entities_of(self, row: int) -> NDArray[np.int64]:
        """Return the entities, by row and ascending, that a document is linked to."""
        places = np.flatnonzero(self.stored.rows == row)
        entities: NDArray[np.int64] = self.stored.starts.searchsorted(places, "right") - 1
        return np.unique(entities)

    def items(self) -> ItemsView[str, EntityLinks]:
        return _LinkItems(self)

    def _in_order(self) -> Iterator[tuple[str, EntityLinks]]:
        links = self.stored
        for entity_id, (start, end) in zip(
            self._entities.ids, pairwise(links.starts.tolist()), strict=True
        ):
            if start < end:
                rows = links.rows[start:end].astype(np.int64)
                yield (
                    entity_id,
                    EntityLinks(rows, links.kinds[start:end], links.counts[start:end]),
                )

    def __len__(self) -> int:
        return int(np.count_nonzero(self.counts()))

    def __iter__(self) -> Iterator[str]:
        counts = self.counts().tolist()
        return (each for each, count in zip(self._entities.ids, counts, strict=True) if count)


class _LinkItems(ItemsView[str, EntityLinks]):
    _mapping: LinksByEntity

    def __iter__(self) -> Iterator[tuple[str, EntityLinks]]:
        return self._mapping._in_order()


class EntityPages(Mapping[int, str]):
    """The ids of the entities whose pages are documents, by row of the document."""

    __slots__ = ("_entities", "_links")

    def __init__(self, links: StoredLinks, entities: EntityColumn) -> None:
        self._links, self._entities = links, entities

    @property
    def rows(self) -> NDArray[np.int32]:
        return self._links.paged_rows

    @property
    def own(self) -> NDArray[np.int32]:
        """Those that are about one entity, not notes that are topics as well; ascending."""
        return self._links.own_pages

    def with_id_key(self, key: str) -> list[int]:
        numbers = self._entities.stored.with_id_key(key)
        rows = [(number, int(self._links.page_rows[number])) for number in numbers]
        return [row for number, row in rows if row >= 0 and self._entity(row) == number]

    def __getitem__(self, row: int) -> str:
        if (number := self._entity(row)) < 0:
            raise KeyError(row)
        return self._entities.ids[number]

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and self._entity(row) >= 0

    def _entity(self, row: int) -> int:
        rows = self._links.paged_rows
        place = int(rows.searchsorted(row))
        is_page = place < len(rows) and rows[place] == row
        return int(self._links.paged_entities[place]) if is_page else -1

    def __len__(self) -> int:
        return len(self._links.paged_rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self._links.paged_rows.tolist())

    def items(self) -> ItemsView[int, str]:
        return _PageItems(self)

    def _in_order(self) -> Iterator[tuple[int, str]]:
        ids = map(self._entities.ids.__getitem__, self._links.paged_entities.tolist())
        return zip(self._links.paged_rows.tolist(), ids, strict=True)


class _PageItems(ItemsView[int, str]):
    _mapping: EntityPages

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self._mapping._in_order()


class IdColumn(Column[str]):
    __slots__ = ("_ids", "_of_pages")

    def __init__(self, ids: Sequence[str], of_pages: Mapping[int, str]) -> None:
        """`ids` are those of all rows; `of_pages`, ascending, of the pages of entities instead."""
        self._ids, self._of_pages = ids, of_pages

    def __len__(self) -> int:
        return len(self._ids)

    def _at(self, row: int) -> str:
        of_page = self._of_pages.get(row)
        return self._ids[row] if of_page is None else of_page

    def __iter__(self) -> Iterator[str]:
        pages = iter(self._of_pages.items())
        page, of_page = next(pages, (-1, ""))
        for row, own in enumerate(self._ids):
            if row == page:
                yield of_page
                page, of_page = next(pages, (-1, ""))
            else:
                yield own


class NameUses(Mapping[str, NameVotes]):
    __slots__ = ("_links", "_row_of", "_words")

    def __init__(self, links: StoredLinks) -> None:
        self._links = links
        self._words = SortedTexts([links.words])
        self._row_of = RowOfText(self._words)

    def __getitem__(self, word: str) -> NameVotes:
        row = self._row_of[word]
        return NameVotes(float(self._links.as_name[row]), float(self._links.as_word[row]))

    def __contains__(self, word: object) -> bool:
        return word in self._row_of

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)


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


LINKS = StateFile("links", "2", StoredLinks)


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
