"""Choosing an entity by a part of its name, in the palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.search.browsing.card import EntityName

Find = Callable[[str], Awaitable["Sequence[EntityName]"]]
Picked = Callable[[str], None]


def entity_palette(find: Find, picked: Picked) -> CommandPalette:
    """Return a palette of entities; `picked` hears the id of the one that is chosen."""

    class Entities(Provider):
        """Entities whose names fit what is typed, best first."""

        async def discover(self) -> Hits:
            for entity in await find(""):
                words = _words(entity)
                yield DiscoveryHit(Content(words), partial(picked, entity.id), text=words)

        async def search(self, query: str) -> Hits:
            for place, entity in enumerate(await find(query)):
                words = _words(entity)
                score = 1.0 / (1 + place)
                yield Hit(score, Content(words), partial(picked, entity.id), text=words)

    return CommandPalette(providers=[Entities], placeholder="name of a person, project or team")


def _words(entity: EntityName) -> str:
    return f"{visible(entity.name)} · {visible(entity.type)}"
