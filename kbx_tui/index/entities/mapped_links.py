"""Links, pages and uses of names as views of the arrays of links.bin, by entity, row and word."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.text_column import RowOfText, SortedTexts, TextArena
from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.entities.stored_links import StoredLinks
from kbx_tui.index.snapshot import EntityLinks, NameVotes


class LinksByEntity(Mapping[str, EntityLinks]):
    """The links of entities by id, without entities that have none: a range of the arrays each."""

    __slots__ = ("_entities", "_links")

    def __init__(self, links: StoredLinks, entities: EntityColumn) -> None:
        self._links, self._entities = links, entities

    def __getitem__(self, entity_id: str) -> EntityLinks:
        start, end = self._range(entity_id)
        if start == end:
            raise KeyError(entity_id)
        links = self._links
        rows = links.rows[start:end].astype(np.int64)
        return EntityLinks(rows, links.kinds[start:end], links.counts[start:end])

    def __contains__(self, entity_id: object) -> bool:
        start, end = self._range(entity_id)
        return start < end

    def _range(self, entity_id: object) -> tuple[int, int]:
        number = self._entities.row_of.get(entity_id, -1) if isinstance(entity_id, str) else -1
        starts = self._links.starts
        return (int(starts[number]), int(starts[number + 1])) if number >= 0 else (0, 0)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of links of each entity, shape (entities,)."""
        counts: NDArray[np.int64] = np.diff(self._links.starts)
        return counts

    def entities_of(self, row: int) -> NDArray[np.int64]:
        """Return the entities, by row and ascending, that a document is linked to."""
        places = np.flatnonzero(self._links.rows == row)
        entities: NDArray[np.int64] = self._links.starts.searchsorted(places, "right") - 1
        return np.unique(entities)

    def items(self) -> ItemsView[str, EntityLinks]:
        """Return ids and links; faster than one by one."""
        return _LinkItems(self)

    def _in_order(self) -> Iterator[tuple[str, EntityLinks]]:
        links = self._links
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
        """The documents that are pages of entities, ascending."""
        return self._links.paged_rows

    @property
    def own(self) -> NDArray[np.int32]:
        """Those that are about one entity, not notes that are topics as well; ascending."""
        return self._links.own_pages

    def with_id_key(self, key: str) -> list[int]:
        """Return the pages of the entities whose id is a query's, as `item_key` writes it."""
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
        """Return rows and ids, ascending by row; faster than one by one."""
        return _PageItems(self)

    def _in_order(self) -> Iterator[tuple[int, str]]:
        ids = map(self._entities.ids.__getitem__, self._links.paged_entities.tolist())
        return zip(self._links.paged_rows.tolist(), ids, strict=True)


class _PageItems(ItemsView[int, str]):
    _mapping: EntityPages

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self._mapping._in_order()


class NameUses(Mapping[str, NameVotes]):
    """How the documents use the words that are also names, by folded word."""

    __slots__ = ("_links", "_row_of", "_words")

    def __init__(self, links: StoredLinks) -> None:
        self._links = links
        self._words = SortedTexts([TextArena(links.words, links.word_starts)])
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
