"""The ids of documents: the page of an entity has the id of the entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kbx_tui.index.columns.column import Column


class IdColumn(Column[str]):
    """The ids of documents by row. Immutable."""

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
