"""Known-item search: documents that a query names in full, by path, id, title or date."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from kbx_tui.index.columns.item_keys import EXTRA, KINDS, item_key
from kbx_tui.index.columns.stored_documents import DocumentSegment
from kbx_tui.knowledge.folding import name_key

ID = KINDS.index("id")


class KnownItems:
    """The documents of one generation by path, id, title and date."""

    def __init__(self, segments: Sequence[DocumentSegment], page_ids: Mapping[int, str]) -> None:
        """`page_ids` are the ids of the documents that are pages of entities, by row."""
        self._segments, self._page_ids = segments, page_ids
        self._pages: dict[str, list[int]] = defaultdict(list)
        for row, entity_id in page_ids.items():
            self._pages[item_key(entity_id)].append(row)

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the rows that `text` names in full, each with `path`, `id`, `title` or `date`."""
        key = item_key(text)
        found = self._with_key(key) if key else []
        words = name_key(text)
        return found or (self._with_key(words) if " " in words else [])

    def _with_key(self, key: str) -> list[tuple[int, str]]:
        """Return the rows with a key: by path first, then id, title, date, and parts of titles."""
        found = [(ID, row, ID) for row in self._pages.get(key, ())]
        for segment in self._segments:
            for number, document in segment.documents.items(key):
                row = int(segment.rows[document])
                if row >= 0 and not (number == ID and row in self._page_ids):
                    found.append((min(number, EXTRA), row, number))
        return [(row, KINDS[number]) for _, row, number in sorted(found)]
