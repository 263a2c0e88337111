"""Finds entities by part of a name or alias. Pure.

Aliases rank after names, and among equals entities with more documents rank first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.browsing.name_lookup import NameLookup


class EntityNames:
    """Names, aliases and e-mail addresses of some entities."""

    def __init__(self, entities: Sequence[Entity], documents: Mapping[str, int]) -> None:
        """Index the names; `documents` maps entity ids to their number of linked documents."""
        self._entities = sorted(
            entities, key=lambda e: (-documents.get(e.id, 0), name_key(e.name), e.id)
        )
        self._names = NameLookup(
            (number, name, name != entity.name)
            for number, entity in enumerate(self._entities)
            for name in (entity.name, *entity.aliases, *entity.emails)
        )

    def find(self, text: str, limit: int) -> list[Entity]:
        """Return at most `limit` entities, best first; without text, those with most documents."""
        if not text.strip():
            return self._entities[:limit]
        named = [n for n, entity in enumerate(self._entities) if entity.id == text.strip()]
        return [self._entities[number] for number in self._names.find(text, limit, named)]

    def named(self, name: str) -> list[Entity]:
        """Return the entities that a name means: by id, else by name or alias, else by parts.

        Parts are whole words: `Alice` means everyone called so, `Ali` nobody.
        """
        if by_id := [entity for entity in self._entities if entity.id == name.strip()]:
            return by_id
        return [self._entities[number] for number in self._names.named(name)]
