"""Entities by a piece of their name, as somebody types it. Pure.

Best first: the whole name or id; what it begins with; every word typed begins one of its words; it
holds the text. Only where there is nothing of the kind, a name that is spelled much like it.
Aliases count as names and come after them. Among equals those with more documents come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest

from rapidfuzz import fuzz, process

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.records import Entity

WHOLE, START, WORDS, INSIDE, ALIKE = range(5)

ALIKE_CUTOFF = 75.0
"""Likeness of text and part of a name, 0..100, below which it is another name."""
ALIKE_LENGTH = 4
"""Texts shorter than this are like too many names."""

Fit = tuple[int, float]
"""How a text fits a name, and how badly within that: smaller is better."""


class EntityNames:
    """Names and aliases of all entities, to be looked through with every key pressed."""

    def __init__(self, entities: Sequence[Entity], documents: Mapping[str, int]) -> None:
        """`documents` tells by entity id how many documents are linked to it."""
        self._entities = sorted(
            entities, key=lambda e: (-documents.get(e.id, 0), name_key(e.name), e.id)
        )
        self._keys: list[str] = []
        self._words: list[tuple[str, ...]] = []
        self._of: list[tuple[int, bool]] = []
        """Entity of each key, and whether the key is an alias."""
        for number, entity in enumerate(self._entities):
            for name in (entity.name, *entity.aliases):
                if key := name_key(name):
                    self._keys.append(key)
                    self._words.append(tuple(key.split()))
                    self._of.append((number, name != entity.name))

    def find(self, text: str, limit: int) -> list[Entity]:
        """Return at most `limit` entities, best first; without text, those with most documents."""
        if not text.strip():
            return self._entities[:limit]
        wanted, best = name_key(text), dict[int, Fit]()
        for number, fit in self._fits(wanted, text.strip()):
            best[number] = min(fit, best.get(number, fit))
        if not best and len(wanted) >= ALIKE_LENGTH:  # a typo, perhaps
            for number, fit in self._alike(wanted):
                best.setdefault(number, fit)
        chosen = nsmallest(limit, best, key=lambda number: (best[number], number))
        return [self._entities[number] for number in chosen]

    def _fits(self, wanted: str, text: str) -> Iterator[tuple[int, Fit]]:
        for number, entity in enumerate(self._entities):
            if entity.id == text:
                yield number, (WHOLE, 0.0)
        if not wanted:
            return
        begun = wanted.split()
        for key, words, (number, is_alias) in zip(self._keys, self._words, self._of, strict=True):
            if key.startswith(wanted):
                yield number, (WHOLE if key == wanted else START, float(is_alias))
            elif all(any(word.startswith(one) for word in words) for one in begun):
                yield number, (WORDS, float(is_alias))
            elif wanted in key:
                yield number, (INSIDE, float(is_alias))

    def _alike(self, wanted: str) -> Iterator[tuple[int, Fit]]:
        """Yield the entities a part of whose name is spelled much like the text, best first."""
        found = process.extract(
            wanted, self._keys, scorer=fuzz.partial_ratio, score_cutoff=ALIKE_CUTOFF, limit=None
        )
        for key, likeness, at in found:
            if len(key) + 1 >= len(wanted):  # else the name is like a part of the text
                yield self._of[at][0], (ALIKE, 100.0 - likeness)
