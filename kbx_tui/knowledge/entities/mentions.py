"""Finding names in running text: Aho-Corasick over every name and alias, on word edges. Pure.

Text and names are compared without accents and letter case. Names that may be words as well (three
letters and less, common words, handles, page names in lower case) have to be written as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import ahocorasick

from kbx_tui.knowledge.entities.common_words import COMMON_WORDS
from kbx_tui.knowledge.entities.spellings import other_spellings
from kbx_tui.knowledge.folding import is_word_edge, name_key, strip_accents
from kbx_tui.knowledge.parsing.kinds import stem_of
from kbx_tui.knowledge.records import Entity

_SHORT = 3


@dataclass(frozen=True, slots=True)
class Bearer:
    """An entity that bears a spelling, and how."""

    position: int
    spelling: str
    """Without accents, white space normalised."""
    exact: bool
    """Letter case matters."""
    is_name: bool
    """Its name, not an alias."""
    is_weak: bool = False
    """A person's initials, or a common word: too little to tell that the person is meant."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a text where a name stands."""

    start: int
    end: int
    bearers: tuple[Bearer, ...]


class Text:
    """A text made ready for spotting."""

    __slots__ = ("folded", "plain")

    def __init__(self, text: str) -> None:
        self.plain = " ".join(strip_accents(text).split())
        """Letter case kept; the same characters at the same places as `folded`."""
        self.folded = self.plain.lower()


class Spotter:
    """Finds the spellings it is given."""

    def __init__(self, bearers: Iterable[Bearer]) -> None:
        by_spelling: dict[str, dict[Bearer, None]] = {}
        for bearer in bearers:
            by_spelling.setdefault(Text(bearer.spelling).folded, {})[bearer] = None
        self._automaton = ahocorasick.Automaton()
        for folded, found in by_spelling.items():
            self._automaton.add_word(folded, (len(folded), tuple(found)))
        if by_spelling:
            self._automaton.make_automaton()
        self._is_empty = not by_spelling

    def spots(self, text: Text) -> list[Spot]:
        """Return where names stand, in order; where they overlap, the first and longest."""
        if self._is_empty:
            return []
        folded = text.folded
        found = []
        for last, (length, bearers) in self._automaton.iter(folded):
            start, end = last + 1 - length, last + 1
            if is_word_edge(folded, start, end):
                written = text.plain[start:end]
                fitting = tuple(
                    bearer for bearer in bearers if not bearer.exact or bearer.spelling == written
                )
                if fitting:
                    found.append(Spot(start, end, fitting))
        return list(_without_overlap(found))


def _without_overlap(found: list[Spot]) -> Iterator[Spot]:
    covered = 0
    for spot in sorted(found, key=lambda spot: (spot.start, -spot.end)):
        if spot.start >= covered:
            yield spot
            covered = spot.end


def written_names(entities: Sequence[Entity]) -> list[Bearer]:
    """Return the ways in which running text names the entities."""
    bearers = [one for at, entity in enumerate(entities) for one in _as_written(at, entity)]
    known = {Text(bearer.spelling).folded for bearer in bearers}
    bearers += [
        Bearer(bearer.position, spelling, " " not in spelling, bearer.is_name)
        for bearer in bearers
        if not bearer.exact and entities[bearer.position].type != "person"
        for spelling in other_spellings(bearer.spelling)
        if Text(spelling).folded not in known  # another bears it as it is
    ]
    return bearers


def keys_in_titles(entities: Sequence[Entity]) -> list[Bearer]:
    """Return the names of several words as they are looked for in titles: see `title_keys`."""
    bearers, others = [], []
    for position, entity in enumerate(entities):
        for name, is_name in _names(entity):
            if " " in (key := name_key(name)):
                bearers.append(Bearer(position, key, False, is_name))
            if entity.type != "person":
                keys = (name_key(spelling) for spelling in other_spellings(name))
                others += [Bearer(position, key, False, is_name) for key in keys if " " in key]
    known = {bearer.spelling for bearer in bearers}
    return bearers + [bearer for bearer in others if bearer.spelling not in known]


def _as_written(position: int, entity: Entity) -> Iterator[Bearer]:
    is_person = entity.type == "person"
    for name, is_name in _names(entity):
        spelling, key = Text(name).plain, name_key(name)
        if key in COMMON_WORDS or len(key) <= _SHORT:
            if not name.islower():
                yield Bearer(position, spelling, True, is_name, is_person)
            if not is_person:
                yield Bearer(position, f"{spelling} {entity.type}", False, is_name)
                yield Bearer(position, f"{entity.type} {spelling}", False, is_name)
        elif (name.islower() and "-" in name) or (is_person and " " not in key):
            yield Bearer(position, spelling, True, is_name)
        else:
            yield Bearer(position, spelling, False, is_name)
            if "-" in spelling:
                yield Bearer(position, spelling.replace("-", " "), False, is_name)


def _names(entity: Entity) -> Iterator[tuple[str, bool]]:
    yield entity.name, True
    for alias in entity.aliases:
        yield alias, False
    stem = stem_of(entity.path) if entity.path else ""
    if "-" in stem:
        yield stem, False
