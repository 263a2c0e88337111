"""Known-item search: documents that a query names in full, by path, id, title or date."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.index.columns.item_keys import EXTRA, KINDS, item_key
from kbx_tui.index.columns.stored_documents import DocumentSegment
from kbx_tui.index.entities.mapped_links import EntityPages
from kbx_tui.knowledge.folding import name_key

ID = KINDS.index("id")


class KnownItems:
    """The documents of one generation by path, id, title and date."""

    def __init__(self, segments: Sequence[DocumentSegment], pages: EntityPages) -> None:
        self._segments, self._pages = segments, pages

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the rows that `text` names in full, each with `path`, `id`, `title` or `date`."""
        key = item_key(text)
        found = self._with_key(key) if key else []
        words = name_key(text)
        return found or (self._with_key(words) if " " in words else [])

    def _with_key(self, key: str) -> list[tuple[int, str]]:
        """Return the rows with a key: by path first, then id, title, date, and parts of titles."""
        found = [(ID, row, ID) for row in self._pages.with_id_key(key)]
        for segment in self._segments:
            for number, document in segment.documents.items(key):
                row = int(segment.rows[document])
                if row >= 0 and not (number == ID and row in self._pages):
                    found.append((min(number, EXTRA), row, number))
        return [(row, KINDS[number]) for _, row, number in sorted(found)]
