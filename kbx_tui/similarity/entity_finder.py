"""Which entity somebody means by a name they type. Raises what to type instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbx_tui.errors import Ambiguous, ConfigError, NotFound
from kbx_tui.knowledge.folding import name_key, tokens
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.browsing.entity_lookup import EntityNames

MOST_NAMED = 6
"""Candidates an error lists."""


class EntityFinder:
    """Finds entities by what people call them."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._by_id: dict[str, Entity] = {}
        self._by_name: dict[str, list[Entity]] = {}
        self._by_alias: dict[str, list[Entity]] = {}
        self._entities = tuple(entities)
        for entity in self._entities:
            self._by_id[entity.id] = entity
            self._by_name.setdefault(name_key(entity.name), []).append(entity)
            for key in {name_key(alias) for alias in entity.aliases}:
                self._by_alias.setdefault(key, []).append(entity)

    def find(self, name: str) -> Entity:
        """Return the entity with this id, name or alias, else the only one whose name begins so.

        Words may be given by their beginnings: `Alice`, `Ali Ch`. Raises Ambiguous with the
        candidates when several fit, NotFound with the nearest names when none does, ConfigError
        for an empty name.
        """
        if not name.strip():
            raise ConfigError("the name of the entity is empty; give a name or an id")
        if known := self._by_id.get(name.strip()):
            return known
        key = name_key(name)
        fitting = self._by_name.get(key) or self._by_alias.get(key) or self._begun(name)
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise Ambiguous(
                f"{name!r} may be {_listed(fitting)}; give the full name or the id",
                candidates=tuple(entity.id for entity in fitting),
            )
        near = EntityNames(self._entities, {}).find(name, 3)
        hint = f"did you mean {_listed(near)}?" if near else "`kbx entity list` shows all"
        raise NotFound(f"no entity is called {name!r}; {hint}")

    def _begun(self, name: str) -> list[Entity]:
        wanted = tokens(name)
        if not wanted:
            return []
        return [
            entity
            for key, entities in self._by_name.items()
            if all(any(word.startswith(one) for word in key.split()) for one in wanted)
            for entity in entities
        ]


def _listed(entities: Sequence[Entity]) -> str:
    shown = [f"{entity.name} ({entity.id})" for entity in entities[:MOST_NAMED]]
    if len(entities) > MOST_NAMED:
        shown.append(f"{len(entities) - MOST_NAMED} more")
    return ", ".join(shown)
