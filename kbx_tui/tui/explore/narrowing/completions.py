"""Completes what the user types: paths, filters and names of entities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient

if TYPE_CHECKING:
    from kbx_tui.search.browsing.card import EntityName
    from kbx_tui.search.browsing.filter_completion import FilterCompletions
    from kbx_tui.search.query.typed_filters import UnfinishedFilter


class Completions:
    """Completions from the index; none until there is one."""

    def __init__(self, client: EngineClient, is_searchable: Callable[[], bool]) -> None:
        self._client, self._is_searchable = client, is_searchable

    async def path(self, text: str) -> tuple[str, ...]:
        """Return completions of the path `text`."""
        if not self._is_searchable():
            return ()
        return await self._client.run(lambda engine: engine.complete_path(text))

    async def filter(self, unfinished: UnfinishedFilter) -> FilterCompletions | None:
        """Return how the filter at the end of a query may go on."""
        if not self._is_searchable():
            return None
        return await self._client.run(lambda engine: engine.complete_filter(unfinished))

    async def entities(self, text: str) -> tuple[EntityName, ...]:
        """Return the entities that match part of a name."""
        if not self._is_searchable():
            return ()
        return await self._client.run(lambda engine: engine.find_entities(text))
