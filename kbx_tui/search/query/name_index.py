"""All names of all entities by their folded words: full names, aliases, surnames, first names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kbx_tui.knowledge.entities.common_words import HONORIFICS, is_common_word
from kbx_tui.knowledge.entities.spellings import other_spellings
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.stemming import singular
from kbx_tui.search.evidence.evidence import SignalKind
from kbx_tui.search.query.english_words import PARTICLES, folded_words

LONGEST_NAME = 12
"""Names of more words are not indexed."""

SHORTEST_SURNAME = 2

Words = tuple[str, ...]
"""Folded words."""


@dataclass(frozen=True, slots=True)
class IndexedName:
    """A full name or alias of an entity."""

    entity: int
    """Index into the entities."""
    kind: SignalKind
    """`name` or `alias`."""
    text: str


class NameIndex:
    """The names of some entities, which are identified by index."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.full: dict[Words, list[IndexedName]] = defaultdict(list)
        """Full names and aliases."""
        self.first_names: dict[str, list[int]] = defaultdict(list)
        """People by first name."""
        self.surnames: dict[Words, list[int]] = defaultdict(list)
        """People by surname."""
        self.initials: dict[int, str] = {}
        """First letters of the given names of people with a surname."""
        for number, entity in enumerate(entities):
            words = self._add(number, "name", entity.name)
            if entity.type == "person" and len(words) > 1:
                self._add_parts(number, entity.name, words)
            for alias in (*entity.aliases, *entity.emails):
                self._add(number, "alias", alias)
        as_written = frozenset(self.full)
        for number, entity in enumerate(entities):
            if entity.type != "person":
                self._add_spellings(number, entity, as_written)
        self.longest_surname = max(map(len, self.surnames), default=0)
        """Number of words of the longest surname."""

    def _add(self, number: int, kind: SignalKind, text: str) -> Words:
        words = folded_words(text)
        if words and len(words) <= LONGEST_NAME:
            names = self.full[words]
            if all(name.entity != number for name in names):
                names.append(IndexedName(number, kind, text))
        return words

    def _add_spellings(self, number: int, entity: Entity, as_written: frozenset[Words]) -> None:
        """Add the singular and plural of names of several words, unless it is another's name.

        Names of one word are left to typo matching: their plural is more often an ordinary word.
        """
        for name in (entity.name, *entity.aliases):
            for spelling in other_spellings(name) if " " in name else ():
                if folded_words(spelling) not in as_written:
                    self._add(number, "name" if name == entity.name else "alias", spelling)

    def _add_parts(self, number: int, name: str, words: Words) -> None:
        parts = [word for word in words if word not in HONORIFICS]
        if len(parts) < 2 or _is_phrase(name):
            return
        self.first_names[parts[0]].append(number)
        surname = folded_words(name.split()[-1])
        if (
            len("".join(surname)) >= SHORTEST_SURNAME
            and len(surname) < len(words)
            and (len(surname) > 1 or surname[0] not in PARTICLES)
        ):
            self.surnames[surname].append(number)
            self.initials[number] = "".join(word[0] for word in parts[: -len(surname)])


def _is_phrase(name: str) -> bool:
    """Return whether a name is written as a phrase, not as that of a person: `Action items`.

    Lists of attendees hold such words too.
    """
    last = name.split()[-1]
    return name[:1].isupper() and last.islower() and is_common_word(singular(fold(last)))
