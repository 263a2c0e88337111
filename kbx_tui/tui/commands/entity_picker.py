"""A command palette for picking an entity by part of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.search.browse import EntityName

FindEntities = Callable[[str], Awaitable["Sequence[EntityName]"]]
PickEntity = Callable[[str], None]


def entity_palette(find: FindEntities, pick: PickEntity) -> CommandPalette:
    """Return a palette of entities that calls `pick` with the id of the selected one."""

    class Entities(Provider):
        async def discover(self) -> Hits:
            for entity in await find(""):
                label = _label(entity)
                yield DiscoveryHit(Content(label), partial(pick, entity.id), text=label)

        async def search(self, query: str) -> Hits:
            for rank, entity in enumerate(await find(query), 1):
                label = _label(entity)
                yield Hit(1.0 / rank, Content(label), partial(pick, entity.id), text=label)

    return CommandPalette(providers=[Entities], placeholder="name of an entity, such as a person")


def _label(entity: EntityName) -> str:
    return f"{safe_line(entity.name)} · {safe_line(entity.type)}"
