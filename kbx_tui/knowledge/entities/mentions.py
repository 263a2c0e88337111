"""Search for names in running text: Aho-Corasick over all names and aliases, at word boundaries.

Text and names are compared without accents and letter case. Names that may also be ordinary words
(short names, common words, handles, page names in lower case) have to match in letter case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import ahocorasick

from kbx_tui.knowledge.entities.common_words import is_ambiguous
from kbx_tui.knowledge.entities.spellings import other_spellings
from kbx_tui.knowledge.entities.topics import TAG
from kbx_tui.knowledge.folding import is_word_edge, name_key, strip_accents
from kbx_tui.knowledge.parsing.kinds import stem_of
from kbx_tui.knowledge.records import Entity


@dataclass(frozen=True, slots=True)
class NameVariant:
    """One way to write the name of an entity."""

    entity: int
    """Index of the entity."""
    spelling: str
    """Without accents, white space normalized."""
    case_sensitive: bool
    is_name: bool
    """True for a form of its name, False for a form of an alias."""
    is_weak: bool = False
    """True for a short or common word as the name of a person: counts only with other evidence."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A range of a text that names one or more entities."""

    start: int
    end: int
    variants: tuple[NameVariant, ...]


class NormalizedText:
    """A text prepared for search: no accents, white space normalized."""

    __slots__ = ("folded", "plain")

    def __init__(self, text: str) -> None:
        self.plain = " ".join(strip_accents(text).split())
        """With letter case; every offset is the same in `folded`."""
        self.folded = self.plain.lower()


class MentionFinder:
    """Finds name variants in texts."""

    def __init__(self, variants: Iterable[NameVariant]) -> None:
        by_spelling: dict[str, dict[NameVariant, None]] = {}
        for variant in variants:
            by_spelling.setdefault(NormalizedText(variant.spelling).folded, {})[variant] = None
        self._automaton = ahocorasick.Automaton()
        for folded, same_spelling in by_spelling.items():
            self._automaton.add_word(folded, (len(folded), tuple(same_spelling)))
        self._automaton.make_automaton()

    def find(self, text: NormalizedText) -> list[Mention]:
        """Return the mentions in order; of those that overlap, the first and longest."""
        if not len(self._automaton):
            return []
        folded = text.folded
        mentions = []
        for last, (length, variants) in self._automaton.iter(folded):
            start, end = last + 1 - length, last + 1
            if is_word_edge(folded, start, end):
                written = text.plain[start:end]
                if matching := tuple(
                    variant
                    for variant in variants
                    if not variant.case_sensitive or variant.spelling == written
                ):
                    mentions.append(Mention(start, end, matching))
        return list(_without_overlap(mentions))


def _without_overlap(mentions: list[Mention]) -> Iterator[Mention]:
    covered = 0
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if mention.start >= covered:
            yield mention
            covered = mention.end


def text_variants(entities: Sequence[Entity]) -> list[NameVariant]:
    """Return the name variants to look for in running text."""
    variants = [
        variant for index, entity in enumerate(entities) for variant in _variants(index, entity)
    ]
    taken = {NormalizedText(variant.spelling).folded for variant in variants}
    variants += [
        NameVariant(variant.entity, spelling, " " not in spelling, variant.is_name)
        for variant in variants
        if not variant.case_sensitive and entities[variant.entity].type != "person"
        for spelling in other_spellings(variant.spelling)
        if NormalizedText(spelling).folded not in taken
    ]
    return variants


def title_variants(entities: Sequence[Entity]) -> list[NameVariant]:
    """Return the name variants to look for in titles: keys of several words, see `title_keys`."""
    variants, others = [], []
    for index, entity in enumerate(entities):
        if entity.type == TAG:
            continue
        for name, is_name in _names(entity):
            if " " in (key := name_key(name)):
                variants.append(NameVariant(index, key, False, is_name))
            if entity.type != "person":
                keys = (name_key(spelling) for spelling in other_spellings(name))
                others += [NameVariant(index, key, False, is_name) for key in keys if " " in key]
    taken = {variant.spelling for variant in variants}
    return variants + [variant for variant in others if variant.spelling not in taken]


def _variants(index: int, entity: Entity) -> Iterator[NameVariant]:
    if entity.type == TAG:
        return
    is_person = entity.type == "person"
    for name, is_name in _names(entity):
        spelling, key = NormalizedText(name).plain, name_key(name)
        if is_ambiguous(key):
            if not name.islower():
                yield NameVariant(index, spelling, True, is_name, is_person)
            if not is_person:
                yield NameVariant(index, f"{spelling} {entity.type}", False, is_name)
                yield NameVariant(index, f"{entity.type} {spelling}", False, is_name)
        elif (name.islower() and "-" in name) or (is_person and " " not in key):
            yield NameVariant(index, spelling, True, is_name)
        else:
            yield NameVariant(index, spelling, False, is_name)
            if "-" in spelling:
                yield NameVariant(index, spelling.replace("-", " "), False, is_name)

    for email in entity.emails:
        yield NameVariant(index, NormalizedText(email).plain, False, False)


def _names(entity: Entity) -> Iterator[tuple[str, bool]]:
    yield entity.name, True
    for alias in entity.aliases:
        yield alias, False
    stem = stem_of(entity.path) if entity.path else ""
    if "-" in stem:
        yield stem, False
