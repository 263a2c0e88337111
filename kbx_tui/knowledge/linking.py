"""Links from documents to the entities that they name; pure, and heavy to import.

Explicit references are resolved, mentions in text are found, and ambiguous mentions are resolved
from the other entities in the document. Mentions are found by Aho-Corasick over all names and
aliases, at word boundaries. Text and names are compared without accents and letter case; names that
may also be ordinary words (short names, common words, handles, page names in lower case) must also
match in letter case.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import ahocorasick

from kbx_tui.knowledge.entity_names import (
    EntityResolver,
    is_ambiguous,
    other_spellings,
    title_keys,
    without_honorifics,
)
from kbx_tui.knowledge.fields import FOLDER_PAGES, TAG, stem_of, tags_of
from kbx_tui.knowledge.folding import fold, is_word_edge, name_key, strip_accents
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.records import Document, Entity, Link, LinkKind
from kbx_tui.knowledge.topics import tag_and_above
from kbx_tui.knowledge.written_links import split_target

_STRONG: frozenset[LinkKind] = frozenset({"attendee", "own_page", "frontmatter", "title"})

Counts = Counter[tuple[int, LinkKind]]


class Linker:
    def __init__(
        self,
        entities: Sequence[Entity],
        *,
        suppressions: Mapping[str, Collection[str]] | None = None,
        files: FileLookup | None = None,
    ) -> None:
        self._entities = tuple(entities)
        self._resolver = EntityResolver(self._entities)
        self._files = files
        self._tags = {
            entity.name.casefold(): index
            for index, entity in enumerate(self._entities)
            if entity.type == TAG
        }
        self._text_finder = MentionFinder(text_variants(self._entities))
        self._title_finder = MentionFinder(title_variants(self._entities))
        self._disambiguator = Disambiguator(self._entities)
        self._pages = {
            entity.path: index for index, entity in enumerate(self._entities) if entity.path
        }
        self._teams = _teams_by_member(self._entities)
        self._suppressions = {
            path: frozenset(map(name_key, names)) for path, names in (suppressions or {}).items()
        }

    def links(self, document: Document) -> tuple[Link, ...]:
        """Return the links of a document; an entity's page links to it once, as `own_page`."""
        counts: Counts = Counter()
        owner = self._pages.get(document.path)
        if owner is not None:
            counts[owner, "own_page"] = 1
        self._count_explicit(document, counts)
        self._count_mentions(document, counts)
        suppressed = self._suppressions.get(document.path, frozenset())
        kept = self._without_suppressed(counts, owner, suppressed)
        self._count_members(kept, suppressed)
        links = (
            Link(self._entities[index].id, document.path, kind, count)
            for (index, kind), count in kept.items()
        )
        return tuple(sorted(links, key=lambda link: (link.entity_id, link.kind)))

    def _count_explicit(self, document: Document, counts: Counts) -> None:
        _count_each(counts, map(self._resolver.by_attendee, document.attendees), "attendee")
        references = map(self._resolver.by_reference, document.references)
        tags = (self._tagged(tag, document) for tag in tags_of(document.frontmatter))
        _count_each(counts, chain(references, tags), "frontmatter")
        for tag in document.tags:
            above = map(str.casefold, tag_and_above(tag))
            named = [self._tags[name] for name in above if name in self._tags]
            _count(counts, named, "frontmatter")

        @cache
        def linked_to(target: str) -> Sequence[int]:
            return self._linked_to(split_target(target)[0], document.path)

        _count_each(counts, map(linked_to, document.links), "wikilink")

    def _tagged(self, tag: str, document: Document) -> Collection[int]:
        """Resolve a tag; in a meeting it may be a first name, as kbx tags those of attendees."""
        meant = self._resolver.by_tag(tag)
        if meant or document.kind != "meeting":
            return meant
        return self._disambiguator.with_first_name(tag)

    def _linked_to(self, page: str, source: str) -> Sequence[int]:
        if self._files is not None:
            if path := self._files.find(page, source):
                return [self._pages[path]] if path in self._pages else ()
            return self._resolver.by_reference(page) if page and "/" not in page else ()
        if page.startswith(("./", "../", "/")):  # the path in a markdown link
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), page)).lstrip("/")
            of_folder = (f"{path}/{stem}.md" for stem in FOLDER_PAGES)
            found = (self._pages.get(spelling) for spelling in (path, f"{path}.md", *of_folder))
            return [index for index in found if index is not None]
        return self._resolver.by_reference(page) if page else ()

    def _count_mentions(self, document: Document, counts: Counts) -> None:
        body = NormalizedText(document.body)
        in_body = self._text_finder.find(body)
        in_title = self._text_finder.find(NormalizedText(document.title))
        for key in title_keys(document.title):
            in_title += self._title_finder.find(NormalizedText(key))
        of_name: dict[tuple[LinkKind, int], list[Mention]] = defaultdict(list)
        for mention in in_body:
            of_name["mention", id(mention.variants)].append(mention)
        for mention in in_title:
            of_name["title", id(mention.variants)].append(mention)
        ambiguous = []
        for (kind, _), mentions in of_name.items():
            resolved = self._disambiguator.resolve(mentions[0])
            if resolved is None:
                ambiguous.append((kind, mentions))
            else:
                _count(counts, resolved, kind, len(mentions))
        present = {index for index, _ in counts}
        for kind, mentions in ambiguous:
            resolved = self._disambiguator.resolve_in_context(mentions[0], present)
            _count(counts, resolved, kind, len(mentions))
        present = {index for index, _ in counts}
        for index, first_name in self._disambiguator.unique_first_names(present):
            if count := count_word(body, first_name, in_body):
                counts[index, "mention"] += count

    def _without_suppressed(
        self, counts: Counts, owner: int | None, suppressed: Collection[str]
    ) -> Counts:
        return Counter(
            {
                (index, kind): count
                for (index, kind), count in counts.items()
                if (index == owner) == (kind == "own_page")
                and (index == owner or not self._is_among(suppressed, index))
            }
        )

    def _is_among(self, names: Collection[str], index: int) -> bool:
        entity = self._entities[index]
        return bool(names) and (name_key(entity.name) in names or name_key(entity.id) in names)

    def _count_members(self, counts: Counts, suppressed: Collection[str]) -> None:
        for member in {index for index, kind in counts if kind in _STRONG}:
            for team in self._teams.get(member, ()):
                if not self._is_among(suppressed, team):
                    counts[team, "member"] += 1


MOST_MEANT = 1_000
"""Entities of one name above which it says nothing, or first names that are looked for in a text.
"""


def _count(counts: Counts, indices: Collection[int], kind: LinkKind, times: int = 1) -> None:
    for index in indices if len(indices) <= MOST_MEANT else ():
        once = kind in ("attendee", "title")
        counts[index, kind] = 1 if once else counts[index, kind] + times


def _count_each(counts: Counts, found: Iterable[Collection[int]], kind: LinkKind) -> None:
    """Count the entities that several names mean, those of one name that is spelled in many ways
    once for all spellings: a thousand may share it."""
    times: dict[int, list[Collection[int]]] = defaultdict(list)
    for indices in found:
        times[id(indices)].append(indices)  # kept, so that no other has its number
    for same in times.values():
        _count(counts, same[0], kind, len(same))


def _teams_by_member(entities: Sequence[Entity]) -> Mapping[int, list[int]]:
    index_of = {entity.id: index for index, entity in enumerate(entities)}
    teams = defaultdict(list)
    for index, entity in enumerate(entities):
        for member in index_of.keys() & entity.members:
            teams[index_of[member]].append(index)
    return teams


@dataclass(frozen=True, slots=True)
class NameVariant:
    entity: int
    spelling: str
    case_sensitive: bool
    is_name: bool
    is_weak: bool = False
    """True for a person's name that is a short or common word: counts only with other evidence."""


@dataclass(frozen=True, slots=True)
class Mention:
    start: int
    end: int
    variants: tuple[NameVariant, ...]


class NormalizedText:
    __slots__ = ("folded", "plain")

    def __init__(self, text: str) -> None:
        self.plain = " ".join(strip_accents(text).split())
        """Text with letter case; offsets are the same in `folded`."""
        self.folded = self.plain.lower()


LONGEST = 200
"""Characters of a name that is looked for in texts: each letter of a text takes as many steps."""


MOST_NESTED = 20
"""Names that end at one place of a text and count, the longest of them: `Ann Lee` and `Lee`."""


class MentionFinder:
    def __init__(self, variants: Iterable[NameVariant]) -> None:
        by_spelling: dict[str, dict[NameVariant, None]] = {}
        for variant in variants:
            if len(variant.spelling) > LONGEST:
                continue
            by_spelling.setdefault(NormalizedText(variant.spelling).folded, {})[variant] = None
        self._automaton = ahocorasick.Automaton()
        for folded, same_spelling in by_spelling.items():
            self._automaton.add_word(folded, (len(folded), tuple(same_spelling)))
        self._automaton.make_automaton()

    def find(self, text: NormalizedText) -> list[Mention]:
        if not len(self._automaton):
            return []
        folded = text.folded
        longest_at: dict[int, Mention] = {}
        matching: dict[str, tuple[NameVariant, ...]] = {}
        previous = nested = 0
        for last, (length, variants) in self._automaton.iter(folded):
            start, end = last + 1 - length, last + 1
            nested = nested + 1 if end == previous else 0
            previous = end
            if nested < MOST_NESTED and is_word_edge(folded, start, end):
                written = text.plain[start:end]
                if written not in matching:
                    matching[written] = tuple(
                        variant
                        for variant in variants
                        if not variant.case_sensitive or variant.spelling == written
                    )
                if matching[written]:
                    longest_at[start] = Mention(start, end, matching[written])  # ends ascend
        return list(_without_overlap(longest_at.values()))


def _without_overlap(mentions: Iterable[Mention]) -> Iterator[Mention]:
    covered = 0
    for mention in sorted(mentions, key=lambda mention: mention.start):
        if mention.start >= covered:
            yield mention
            covered = mention.end


def text_variants(entities: Sequence[Entity]) -> list[NameVariant]:
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


_SHORTEST_FIRST_NAME = 2


class Disambiguator:
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

        If one candidate is present, it is meant; if several are, the only one with that full name.
        If none is present, all entities with that name are, unless it is also a person's first
        name.
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
        first_names = {i: self._first_names[i] for i in sorted(present) if i in self._first_names}
        shared = Counter(map(fold, first_names.values()))
        for index, first in first_names.items() if len(first_names) <= MOST_MEANT else ():
            if shared[fold(first)] == 1:
                yield index, first

    def with_first_name(self, name: str) -> Collection[int]:
        people = self._by_first_name.get(fold(name), set())
        spelled = {self._first_names[index] for index in people}
        return people if len(people) == 1 and spelled == {strip_accents(name)} else ()

    def _namesakes(self, mention: Mention) -> set[int]:
        spelling = mention.variants[0].spelling
        return self._by_first_name.get(fold(spelling), set()) if " " not in spelling else set()


def first_name(name: str) -> str:
    words = without_honorifics(strip_accents(name).split(), 1)
    first = words[0] if len(words) > 1 else ""
    return first if len(first) >= _SHORTEST_FIRST_NAME and first.replace("-", "").isalpha() else ""


def count_word(text: NormalizedText, word: str, excluded: Sequence[Mention]) -> int:
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
