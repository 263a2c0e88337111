"""Known-item search: documents that a query names in full, by path, id, title or date."""

from __future__ import annotations

from collections import defaultdict

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.folding import fold, name_key


class KnownItems:
    """The documents of one generation by path, id, title and date."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._rows: dict[str, list[tuple[int, str]]] = defaultdict(list)
        columns = (snapshot.paths, snapshot.ids, snapshot.titles, snapshot.dates)
        for what, values in zip(("path", "id", "title", "date"), columns, strict=True):
            for row, value in enumerate(values):
                self._rows[_key(value)].append((row, what))
        for row, title in enumerate(snapshot.titles):
            number, colon, _ = title.partition(": ")  # `INC-0117: the outage`
            if colon and any(map(str.isdigit, number)):
                self._rows[_key(number)].append((row, "title"))
            words = name_key(title)  # `Plan: an evening` is found by `plan an evening`
            if " " in words and words != _key(title):
                self._rows[words].append((row, "title"))

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the rows that `text` names in full, each with `path`, `id`, `title` or `date`."""
        key = _key(text)
        found = self._rows.get(key, []) if key else []
        words = name_key(text)
        return found or (self._rows.get(words, []) if " " in words else [])


def _key(text: str) -> str:
    return " ".join(fold(text).split()).strip("/")
