"""Documents that a query asks for by what they are called: path, id, title or date."""

from __future__ import annotations

from collections import defaultdict

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.folding import fold


class ExactNames:
    """What the documents of one generation are called."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for what, values in (
            ("path", snapshot.paths),
            ("id", snapshot.ids),
            ("title", snapshot.titles),
            ("date", snapshot.dates),
        ):
            for row, value in enumerate(values):
                self._found[_key(value)].append((row, what))
        for row, title in enumerate(snapshot.titles):
            number, colon, _ = title.partition(": ")  # `INC-0117: the outage`
            if colon and any(map(str.isdigit, number)):
                self._found[_key(number)].append((row, "title"))

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the rows of the documents called so, and which of the four it is."""
        key = _key(text)
        return self._found.get(key, []) if key else []


def _key(text: str) -> str:
    return " ".join(fold(text).split()).strip("/")
