"""Finds entities by part of a name, as the user types it. Pure.

Best first: the text is the whole name or id; the name starts with it; every word of it starts a
word of the name; the name contains it. Similar spellings match only if nothing else does. Aliases
rank after names, and among equals entities with more documents rank first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest

from rapidfuzz import fuzz, process

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.records import Entity

WHOLE, START, WORDS, INSIDE, SIMILAR = range(5)

LEAST_SIMILARITY = 75.0
"""Lowest similarity of the text to a part of a similar name, 0..100."""
SIMILARITY_LENGTH = 4
"""Shorter texts are similar to too many names."""

Fit = tuple[int, float]
"""Kind of match, and a penalty within it; smaller is better."""


class EntityNames:
    """Names and aliases of some entities, fast enough to search on every key press."""

    def __init__(self, entities: Sequence[Entity], documents: Mapping[str, int]) -> None:
        """Index the names; `documents` maps entity ids to their number of linked documents."""
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
        if not best and len(wanted) >= SIMILARITY_LENGTH:  # it may have a typo
            for number, fit in self._similar(wanted):
                best.setdefault(number, fit)
        chosen = nsmallest(limit, best, key=lambda number: (best[number], number))
        return [self._entities[number] for number in chosen]

    def _fits(self, wanted: str, text: str) -> Iterator[tuple[int, Fit]]:
        for number, entity in enumerate(self._entities):
            if entity.id == text:
                yield number, (WHOLE, 0.0)
        if not wanted:
            return
        beginnings = wanted.split()
        for key, words, (number, is_alias) in zip(self._keys, self._words, self._of, strict=True):
            if key.startswith(wanted):
                yield number, (WHOLE if key == wanted else START, float(is_alias))
            elif all(any(word.startswith(start) for word in words) for start in beginnings):
                yield number, (WORDS, float(is_alias))
            elif wanted in key:
                yield number, (INSIDE, float(is_alias))

    def _similar(self, wanted: str) -> Iterator[tuple[int, Fit]]:
        """Yield the entities with a part of their name similar to the text, best first."""
        similar = process.extract(
            wanted, self._keys, scorer=fuzz.partial_ratio, score_cutoff=LEAST_SIMILARITY, limit=None
        )
        for key, similarity, index in similar:
            if len(key) + 1 >= len(wanted):  # otherwise the name matches a part of the text
                yield self._of[index][0], (SIMILAR, 100.0 - similarity)
