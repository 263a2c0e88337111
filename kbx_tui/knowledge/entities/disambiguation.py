"""Who is meant by a name that stands in a text, when several could be. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from kbx_tui.knowledge.entities.common_words import HONORIFICS
from kbx_tui.knowledge.entities.mentions import Spot, Text
from kbx_tui.knowledge.folding import fold, is_word_edge, strip_accents
from kbx_tui.knowledge.records import Entity

_SHORTEST_FIRST_NAME = 2


class Bearing:
    """Decides between the bearers of a name by who is in the document anyway."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._first_names: dict[int, str] = {}
        self._sharing: dict[str, set[int]] = {}
        for position, entity in enumerate(entities):
            if entity.type == "person" and (first := first_name(entity.name)):
                self._first_names[position] = first
                self._sharing.setdefault(fold(first), set()).add(position)

    def sure(self, spot: Spot) -> Collection[int] | None:
        """Return who is meant whatever else the document says, None when that is not certain."""
        meant = _most_direct(spot)
        return meant if len(meant) == 1 and not self._namesakes(spot) - meant else None

    def corroborated(self, spot: Spot, present: Collection[int]) -> Collection[int]:
        """Return who is meant given who else is in the document.

        That is the only bearer present. Where none is, those whose full name it is are all meant.
        """
        namesakes = self._namesakes(spot)
        bearers = {bearer.position for bearer in spot.bearers} | namesakes
        here = bearers.intersection(present)
        if len(here) > 1:
            here &= _named(spot)
        if here or namesakes:
            return here if len(here) == 1 else ()
        return _named(spot)

    def first_names(self, present: Collection[int]) -> Iterator[tuple[int, str]]:
        """Yield the persons present with their first names, where only one present bears it."""
        for position in sorted(present):
            first = self._first_names.get(position)
            if first and len(self._sharing[fold(first)].intersection(present)) == 1:
                yield position, first

    def _namesakes(self, spot: Spot) -> set[int]:
        spelling = spot.bearers[0].spelling
        return self._sharing.get(fold(spelling), set()) if " " not in spelling else set()


def first_name(name: str) -> str:
    """Return the first name of a person as text is searched for it, empty for a single name."""
    words = strip_accents(name).split()
    while len(words) > 1 and fold(words[0]).rstrip(".") in HONORIFICS:
        words = words[1:]
    first = words[0] if len(words) > 1 else ""
    return first if len(first) >= _SHORTEST_FIRST_NAME and first.replace("-", "").isalpha() else ""


def count_word(text: Text, word: str, taken: Sequence[Spot]) -> int:
    """Count a word as it is written, on word edges, outside the names found (``taken``)."""
    count = 0
    start = text.plain.find(word)
    while start >= 0:
        end = start + len(word)
        if is_word_edge(text.plain, start, end):
            before = bisect_right(taken, start, key=lambda spot: spot.start)
            count += before == 0 or taken[before - 1].end <= start
        start = text.plain.find(word, end)
    return count


def _named(spot: Spot) -> set[int]:
    return {entry.position for entry in spot.bearers if entry.is_name and not entry.is_weak}


def _most_direct(spot: Spot) -> set[int]:
    return _named(spot) or {entry.position for entry in spot.bearers if not entry.is_weak}
