"""The entity that a user names, or that a text begins with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kbx_tui.errors import Ambiguous, ConfigError, UnknownEntity
from kbx_tui.knowledge.folding import name_key, tokens
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.name_lookup import EntityNames

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
                f"{name!r} could be {_listed(matching)}; give the full name or the id",
                candidates=tuple(entity.id for entity in matching),
            )
        near = EntityNames(self._entities, {}).find(name, 3)
        hint = f"did you mean {_listed(near)}?" if near else "`kbx entity list` shows them all"
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


def _listed(entities: Sequence[Entity]) -> str:
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
