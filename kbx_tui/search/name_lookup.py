"""Finds things by part of a name, as the user types it, and the entity that a text begins with.

Best first: the text is the whole name; the name starts with it; every word of it starts a word of
the name; the name contains it. Similar spellings match only if nothing else does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from kbx_tui.errors import Ambiguous, ConfigError, UnknownEntity
from kbx_tui.knowledge.folding import name_key, tokens
from kbx_tui.knowledge.records import Entity

if TYPE_CHECKING:
    from kbx_tui.index.snapshot import Snapshot


WHOLE, START, WORDS, INSIDE, SIMILAR = range(5)

LEAST_SIMILARITY = 75.0
"""Lowest similarity of the text to a part of a similar name, 0..100."""
SIMILARITY_LENGTH = 4

Fit = tuple[int, float]


class NameLookup:
    def __init__(self, names: Iterable[tuple[int, str, bool]]) -> None:
        """Index names as (number of the thing, name, whether the name is a secondary one)."""
        self._keys: list[str] = []
        self._of: list[tuple[int, bool]] = []
        for number, name, is_secondary in names:
            if key := name_key(name):
                self._keys.append(key)
                self._of.append((number, is_secondary))

    def find(self, text: str, limit: int, whole: Collection[int] = ()) -> list[int]:
        """Return the numbers of at most `limit` things, best first, equal ones by number.

        Those of `whole` count as if the text were their name.
        """
        wanted = name_key(text)
        best: dict[int, Fit] = dict.fromkeys(whole, (WHOLE, 0.0))
        for number, fit in self._fits(wanted):
            best[number] = min(fit, best.get(number, fit))
        if not best and len(wanted) >= SIMILARITY_LENGTH:  # it may have a typo
            for number, fit in self._similar(wanted):
                best.setdefault(number, fit)
        return nsmallest(limit, best, key=lambda number: (best[number], number))

    def named(self, text: str) -> list[int]:
        """Return the numbers of the things with this name, else of those with all its words."""
        wanted = name_key(text)
        words = set(wanted.split())
        pairs = min((self._with_word.get(word, ()) for word in words), key=len, default=())
        found = [number for key, number in pairs if key == wanted]
        found = found or [number for key, number in pairs if words <= set(key.split())]
        return list(dict.fromkeys(found))

    @cached_property
    def _with_word(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        """The names that hold a word, each with the number of the thing."""
        pairs: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for key, (number, _) in zip(self._keys, self._of, strict=True):
            for word in {*key.split()}:
                pairs[word].append((key, number))
        return pairs

    def _fits(self, wanted: str) -> Iterator[tuple[int, Fit]]:
        if not wanted:
            return
        beginnings = [f" {word}" for word in wanted.split()]
        for key, (number, is_secondary) in zip(self._keys, self._of, strict=True):
            if key.startswith(wanted):
                yield number, (WHOLE if key == wanted else START, float(is_secondary))
            elif all(start in f" {key}" for start in beginnings):
                yield number, (WORDS, float(is_secondary))
            elif wanted in key:
                yield number, (INSIDE, float(is_secondary))

    def _similar(self, wanted: str) -> Iterator[tuple[int, Fit]]:
        similar = process.extract(
            wanted, self._keys, scorer=fuzz.partial_ratio, score_cutoff=LEAST_SIMILARITY, limit=None
        )
        for key, similarity, index in similar:
            if len(key) + 1 >= len(wanted):  # otherwise the name matches a part of the text
                yield self._of[index][0], (SIMILAR, 100.0 - similarity)


@dataclass(frozen=True, slots=True)
class DocumentName:
    path: str
    title: str
    date: str
    kind: str


class DocumentNames:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        rows = range(len(snapshot.paths))  # sorted by path
        self._rows = sorted(rows, key=snapshot.dates.__getitem__, reverse=True)
        self._names = NameLookup(
            (number, name, is_path)
            for number, row in enumerate(self._rows)
            for name, is_path in ((snapshot.titles[row], False), (snapshot.paths[row], True))
        )

    def find(self, text: str, limit: int) -> list[DocumentName]:
        """Return at most `limit` documents, best first; without text, the newest."""
        if not text.strip():
            return [self._document(row) for row in self._rows[:limit]]
        row = self._snapshot.row_of.get(text.strip())
        named = [] if row is None else [self._rows.index(row)]
        numbers = self._names.find(text, limit, named)
        return [self._document(self._rows[number]) for number in numbers]

    def _document(self, row: int) -> DocumentName:
        snapshot = self._snapshot
        return DocumentName(
            snapshot.paths[row], snapshot.titles[row], snapshot.dates[row], snapshot.kinds[row]
        )


class EntityNames:
    def __init__(self, entities: Sequence[Entity], documents: Mapping[str, int]) -> None:
        """Index the names; `documents` maps entity ids to their number of linked documents."""
        self._entities = sorted(
            entities, key=lambda e: (-documents.get(e.id, 0), name_key(e.name), e.id)
        )
        self._number_of = {entity.id: number for number, entity in enumerate(self._entities)}
        self._names = NameLookup(
            (number, name, name != entity.name)
            for number, entity in enumerate(self._entities)
            for name in (entity.name, *entity.aliases, *entity.emails)
        )

    def find(self, text: str, limit: int) -> list[Entity]:
        """Return at most `limit` entities, best first; without text, those with most documents."""
        if not text.strip():
            return self._entities[:limit]
        named = self._number_of.get(text.strip())
        found = self._names.find(text, limit, [] if named is None else [named])
        return [self._entities[number] for number in found]

    def named(self, name: str) -> list[Entity]:
        """Return the entities that a name means: by id, else by name or alias, else by parts.

        Parts are whole words: `Alice` means everyone called so, `Ali` nobody.
        """
        by_id = self._number_of.get(name.strip())
        found = self._names.named(name) if by_id is None else [by_id]
        return [self._entities[number] for number in found]


MAX_CANDIDATES_LISTED = 6


class EntityFinder:
    def __init__(self, entities: Iterable[Entity]) -> None:
        self._by_id: dict[str, Entity] = {}
        self._by_name: dict[str, list[Entity]] = {}
        self._by_alias: dict[str, list[Entity]] = {}
        self._entities = tuple(entities)
        for entity in self._entities:
            self._by_id[entity.id] = entity
            self._by_name.setdefault(name_key(entity.name), []).append(entity)
            for key in {name_key(alias) for alias in (*entity.aliases, *entity.emails)}:
                self._by_alias.setdefault(key, []).append(entity)

    def find(self, name: str) -> Entity:
        """Return the entity with this id, name or alias, else the only one with that name prefix.

        Each word may be abbreviated: `Alice`, `Ali Ch`. Raises Ambiguous with the candidates,
        UnknownEntity with the nearest names, and ConfigError for an empty name.
        """
        if not name.strip():
            raise ConfigError("the name of the entity is empty; give a name or an id")
        if entity := self._by_id.get(name.strip()):
            return entity
        key = name_key(name)
        matching = self._by_name.get(key) or self._by_alias.get(key) or self._with_prefix(name)
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise Ambiguous(
                f"{name!r} could be {_listed_entities(matching)}; give the full name or the id",
                candidates=tuple(entity.id for entity in matching),
            )
        near = EntityNames(self._entities, {}).find(name, 3)
        hint = (
            f"did you mean {_listed_entities(near)}?"
            if near
            else "`kbx entity list` shows them all"
        )
        raise UnknownEntity(f"no entity is called {name!r}; {hint}")

    def _with_prefix(self, name: str) -> list[Entity]:
        prefixes = tokens(name)
        if not prefixes:
            return []
        return [
            entity
            for key, entities in self._by_name.items()
            if all(any(word.startswith(prefix) for word in key.split()) for prefix in prefixes)
            for entity in entities
        ]


def _listed_entities(entities: Sequence[Entity]) -> str:
    shown = [f"{entity.name} ({entity.id})" for entity in entities[:MAX_CANDIDATES_LISTED]]
    if len(entities) > MAX_CANDIDATES_LISTED:
        shown.append(f"{len(entities) - MAX_CANDIDATES_LISTED} more")
    return ", ".join(shown)


LONGEST_NAME = 8


class SubjectIndex:
    def __init__(self, entities: Sequence[Entity]) -> None:
        self._by_name: defaultdict[str, dict[str, Entity]] = defaultdict(dict)
        for entity in entities:
            for name in (entity.name, *entity.aliases):
                self._by_name[name_key(name)][entity.id] = entity

    def subject_of(self, text: str) -> Entity | None:
        words = tokens(text)
        for count in range(min(len(words), LONGEST_NAME), 0, -1):
            if entities := self._by_name.get(" ".join(words[:count])):
                return next(iter(entities.values())) if len(entities) == 1 else None
        return None
