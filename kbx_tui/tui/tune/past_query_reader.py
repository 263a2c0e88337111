"""Reads what each threshold makes of the past queries, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.tune.past_queries import PastQueries, joined

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.threshold_observatory import ThresholdObservatory
    from kbx_tui.search.evidence.tuning import Tuning

GROUP = 5
"""Queries read in one call of the engine: for so long a search of the user waits."""
PAUSE_SECONDS = 0.005


class PastQueryReader:
    """What is known of the past queries. It outlives the screen."""

    def __init__(self, client: EngineClient, on_change: Callable[[], object]) -> None:
        self._client, self._on_change = client, on_change
        self._reading = LatestOnly(client)
        self._observed: ThresholdObservatory | None = None
        self._observed_with: Tuning | None = None
        self.total: int | None = None
        """Number of past queries; None before they are counted."""

    def read(self, tuning: Tuning) -> None:
        """Read the past queries that are new; all of them if other knobs than alpha changed."""
        self._reading.start(self._read(replace(tuning, hierarchy=True)))

    def stop(self) -> None:
        """Stop reading; what has been read stays."""
        self._reading.cancel()

    def forget(self) -> None:
        """Read all queries again next time: the index has changed."""
        self.stop()
        self._observed = None

    def view(self, pinned: float, current: float) -> PastQueries | None:
        """Return what has been read, to compare two thresholds; None before the first query."""
        if self._observed is None or not self.total:
            return None
        return PastQueries(self._observed, self.total, pinned, current)

    async def _read(self, tuning: Tuning) -> None:
        queries = await self._client.run(
            lambda engine: [past.query for past in engine.query_history()]
        )
        same = replace(tuning, alpha=0.5, entity_threshold=0.5)
        known = () if self._observed is None else (each.query for each in self._observed.queries)
        names = set(known)
        if same != self._observed_with or not names <= set(queries):
            self._observed, self._observed_with = None, same
            names = set()
        self.total = len(queries)
        self._on_change()
        missing = [query for query in queries if query not in names]
        for start in range(0, len(missing), GROUP):
            group = missing[start : start + GROUP]

            def observe(engine: KnowledgeBase, group: list[str] = group) -> ThresholdObservatory:
                return engine.observe_thresholds(group, tuning)

            self._observed = joined(self._observed, await self._client.run(observe))
            self._on_change()
            await asyncio.sleep(PAUSE_SECONDS)
