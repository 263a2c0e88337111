"""The entity that a text is about, by the name it begins with. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kbx_tui.knowledge.folding import name_key, tokens
from kbx_tui.knowledge.records import Entity

LONGEST_NAME = 8
"""Maximum number of words in a name that a text may begin with."""


class SubjectIndex:
    """Entities by the names that a text may begin with."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._by_name: defaultdict[str, dict[str, Entity]] = defaultdict(dict)
        for entity in entities:
            for name in (entity.name, *entity.aliases):
                self._by_name[name_key(name)][entity.id] = entity

    def subject_of(self, text: str) -> Entity | None:
        """Return the entity with the longest name the text begins with; None if several have it."""
        words = tokens(text)
        for count in range(min(len(words), LONGEST_NAME), 0, -1):
            if entities := self._by_name.get(" ".join(words[:count])):
                return next(iter(entities.values())) if len(entities) == 1 else None
        return None
