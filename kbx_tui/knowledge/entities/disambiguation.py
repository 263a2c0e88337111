"""Disambiguation: which entity a mention means if it matches several."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from kbx_tui.knowledge.entities.common_words import HONORIFICS
from kbx_tui.knowledge.entities.mentions import Mention, NormalizedText
from kbx_tui.knowledge.folding import fold, is_word_edge, strip_accents
from kbx_tui.knowledge.records import Entity

_SHORTEST_FIRST_NAME = 2


class Disambiguator:
    """Resolves ambiguous mentions by the other entities present in the document.

    Entities are identified by their index.
    """

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._first_names: dict[int, str] = {}
        self._by_first_name: dict[str, set[int]] = {}
        for index, entity in enumerate(entities):
            if entity.type == "person" and (first := first_name(entity.name)):
                self._first_names[index] = first
                self._by_first_name.setdefault(fold(first), set()).add(index)

    def resolve(self, mention: Mention) -> Collection[int] | None:
        """Return the entity meant, or None if that depends on the rest of the document."""
        meant = _named(mention) or {
            variant.entity for variant in mention.variants if not variant.is_weak
        }
        return meant if len(meant) == 1 and not self._namesakes(mention) - meant else None

    def resolve_in_context(self, mention: Mention, present: Collection[int]) -> Collection[int]:
        """Return the entities meant, given those present in the document for other reasons.

        This is the only candidate present; of several, the only one with that name. If none is
        present, it is every entity with that name, unless it is also the first name of a person.
        """
        namesakes = self._namesakes(mention)
        candidates = {variant.entity for variant in mention.variants} | namesakes
        matching = candidates.intersection(present)
        if len(matching) > 1:
            matching &= _named(mention)
        if matching or namesakes:
            return matching if len(matching) == 1 else ()
        return _named(mention)

    def unique_first_names(self, present: Collection[int]) -> Iterator[tuple[int, str]]:
        """Yield each person present with their first name, unless another one present shares it."""
        for index in sorted(present):
            first = self._first_names.get(index)
            if first and len(self._by_first_name[fold(first)].intersection(present)) == 1:
                yield index, first

    def with_first_name(self, name: str) -> Collection[int]:
        """Return the only person with this first name, in this letter case; none if several."""
        people = self._by_first_name.get(fold(name), set())
        spelled = {self._first_names[index] for index in people}
        return people if len(people) == 1 and spelled == {strip_accents(name)} else ()

    def _namesakes(self, mention: Mention) -> set[int]:
        """Return the people whose first name the mention is."""
        spelling = mention.variants[0].spelling
        return self._by_first_name.get(fold(spelling), set()) if " " not in spelling else set()


def first_name(name: str) -> str:
    """Return the first name of a person without accents, empty for a single name."""
    words = strip_accents(name).split()
    while len(words) > 1 and fold(words[0]).rstrip(".") in HONORIFICS:
        words = words[1:]
    first = words[0] if len(words) > 1 else ""
    return first if len(first) >= _SHORTEST_FIRST_NAME and first.replace("-", "").isalpha() else ""


def count_word(text: NormalizedText, word: str, excluded: Sequence[Mention]) -> int:
    """Count a word, with its letter case and at word boundaries, outside ``excluded``."""
    count = 0
    start = text.plain.find(word)
    while start >= 0:
        end = start + len(word)
        if is_word_edge(text.plain, start, end):
            before = bisect_right(excluded, start, key=lambda mention: mention.start)
            count += before == 0 or excluded[before - 1].end <= start
        start = text.plain.find(word, end)
    return count


def _named(mention: Mention) -> set[int]:
    return {
        variant.entity for variant in mention.variants if variant.is_name and not variant.is_weak
    }
