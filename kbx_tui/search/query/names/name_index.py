"""The names that the words of a query may be: of all n-grams of a query, by one lookup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.text_column import TextArena, TextColumn
from kbx_tui.index.entities.name_segments import Hashes
from kbx_tui.index.entities.stored_names import (
    StoredNames,
    Words,
    hash_after,
)
from kbx_tui.search.evidence.evidence import SignalKind

MOST_NAMESAKES = 1000
"""Entities with the same name that are looked at, the first by id: 20 are shown at most."""

_KINDS: tuple[SignalKind, ...] = ("name", "alias")
"""By the number that a name is stored with."""


@dataclass(frozen=True, slots=True)
class IndexedName:
    """A full name or alias of an entity."""

    entity: int
    """Index into the entities."""
    kind: SignalKind
    """`name` or `alias`."""
    text: str


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The names that words of one query may be, with the entities by index."""

    full: dict[Words, list[IndexedName]] = field(default_factory=dict)
    """Full names and aliases."""
    first_names: dict[str, list[int]] = field(default_factory=dict)
    """People by first name."""
    surnames: dict[Words, list[int]] = field(default_factory=dict)
    """People by surname."""
    initials: dict[int, str] = field(default_factory=dict)
    """First letters of the given names of `surnames`."""


class NameIndex:
    """All names of some entities, which are identified by index."""

    def __init__(self, stored: StoredNames) -> None:
        self._stored = stored
        self._texts = _column(stored.full_texts, stored.full_text_starts)
        self._initials = _column(stored.initials, stored.initial_starts)
        self._longest = int(stored.most_words.max())

    def find(self, words: Sequence[str]) -> FoundNames:
        """Return all names in folded words, whether they overlap or not."""
        stored, found = self._stored, FoundNames()
        ranges, hashes = _n_grams(words, self._longest)
        for number, start, end in _places(stored.full_hashes, hashes):
            end = min(end, start + MOST_NAMESAKES)
            found.full[ranges[number]] = [
                IndexedName(entity, _KINDS[kind], self._texts[place])
                for place, entity, kind in zip(
                    range(start, end),
                    stored.full_entities[start:end].tolist(),
                    stored.full_kinds[start:end].tolist(),
                    strict=True,
                )
            ]
        for number, start, end in _places(stored.surname_hashes, hashes):
            people = stored.surname_entities[start:end].tolist()
            found.surnames[ranges[number]] = people
            found.initials.update(zip(people, self._initials[start:end], strict=True))
        for number, start, end in _places(stored.first_hashes, hashes):
            people = stored.first_entities[start : min(end, start + MOST_NAMESAKES)].tolist()
            found.first_names[ranges[number][0]] = people
        return found


def lengths_of(names: Iterable[Words]) -> list[int]:
    """Return the different numbers of words of names, the largest first."""
    return sorted({*map(len, names)}, reverse=True)


def _column(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> TextColumn:
    return TextColumn([TextArena(data, starts)])


def _n_grams(words: Sequence[str], longest: int) -> tuple[list[Words], Hashes]:
    """Return the different runs of at most `longest` words, and their hashes."""
    found: dict[Words, int] = {}
    for first in range(len(words)):
        so_far = 0
        for end in range(first + 1, min(first + longest, len(words)) + 1):
            so_far = hash_after(so_far, words[end - 1])
            found[tuple(words[first:end])] = so_far
    return list(found), np.array(list(found.values()), np.uint64)


def _places(hashes: Hashes, wanted: Hashes) -> Iterator[tuple[int, int, int]]:
    """Yield the wanted hashes that ascending ones hold, by number, with start and end of each."""
    if not len(hashes):
        return
    starts = hashes.searchsorted(wanted)
    is_there: NDArray[Any] = hashes[np.minimum(starts, len(hashes) - 1)] == wanted
    for number in np.flatnonzero(is_there).tolist():
        yield number, int(starts[number]), int(hashes.searchsorted(wanted[number], "right"))
