"""Reads which documents turn up for too many of the past queries, a few queries at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient, LatestOnly

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.over_retrieved import OverRetrieved

GROUP = 5
"""Queries read in one call of the engine: for so long a search of the user waits."""
MOST_QUERIES = 200
"""Past queries that are read, the newest: more take long and say little more."""
PAUSE_SECONDS = 0.005


class OverRetrievedReader:
    """What is known of the first results of the past queries. It outlives the screen."""

    def __init__(self, client: EngineClient, on_change: Callable[[], object]) -> None:
        self._client, self._on_change = client, on_change
        self._reading = LatestOnly(client)
        self._firsts: dict[str, tuple[str, ...]] = {}
        self.found: tuple[OverRetrieved, ...] = ()
        """The over-retrieved documents, the worst first, muted ones included."""
        self.muted: tuple[str, ...] = ()
        """Paths of the muted documents."""
        self.queries: int | None = None
        """Number of past queries; None before they are read."""

    def read(self) -> None:
        """Read the past queries that are new."""
        self._reading.start(self._read())

    def forget(self) -> None:
        """Read all of them again when next asked: the index has new content."""
        self._firsts = {}

    def stop(self) -> None:
        """Stop reading; what has been read stays."""
        self._reading.cancel()

    async def _read(self) -> None:
        def ask(engine: KnowledgeBase) -> tuple[list[str], tuple[str, ...]]:
            asked = [past.query for past in engine.query_history()[:MOST_QUERIES]]
            return asked, engine.settings.search.muted_documents

        asked, self.muted = await self._client.run(ask)
        self._firsts = {query: self._firsts[query] for query in asked if query in self._firsts}
        missing = [query for query in asked if query not in self._firsts]
        for start in range(0, len(missing), GROUP):
            group = missing[start : start + GROUP]

            def read(engine: KnowledgeBase, group: list[str] = group) -> list[tuple[str, ...]]:
                return engine.first_results(group)

            self._firsts |= zip(group, await self._client.run(read), strict=True)
            await asyncio.sleep(PAUSE_SECONDS)
        self.queries, firsts = len(asked), dict(self._firsts)

        def judge(engine: KnowledgeBase) -> tuple[OverRetrieved, ...]:
            from kbx_tui.evaluation.over_retrieved import find_over_retrieved

            return find_over_retrieved(firsts, engine.titles(), len(engine.document_paths()))

        self.found = await self._client.run(judge)
        self._on_change()
