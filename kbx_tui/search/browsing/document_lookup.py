"""Finds documents by part of a title or path. Pure.

Paths rank after titles, and among equals newer documents rank first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.search.browsing.name_lookup import NameLookup

if TYPE_CHECKING:
    from kbx_tui.index.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DocumentName:
    """A document as shown in lists."""

    path: str
    title: str
    date: str
    kind: str


class DocumentNames:
    """Titles and paths of the documents of one index generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        rows = range(len(snapshot.paths))  # sorted by path
        self._rows = sorted(rows, key=snapshot.dates.__getitem__, reverse=True)
        self._names = NameLookup(
            (number, name, is_path)
            for number, row in enumerate(self._rows)
            for name, is_path in ((snapshot.titles[row], False), (snapshot.paths[row], True))
        )

    def find(self, text: str, limit: int) -> list[DocumentName]:
        """Return at most `limit` documents, best first; without text, the newest."""
        if not text.strip():
            return [self._document(row) for row in self._rows[:limit]]
        row = self._snapshot.row_of.get(text.strip())
        named = [] if row is None else [self._rows.index(row)]
        numbers = self._names.find(text, limit, named)
        return [self._document(self._rows[number]) for number in numbers]

    def _document(self, row: int) -> DocumentName:
        snapshot = self._snapshot
        return DocumentName(
            snapshot.paths[row], snapshot.titles[row], snapshot.dates[row], snapshot.kinds[row]
        )
