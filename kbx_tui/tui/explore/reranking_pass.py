"""Reranks the displayed answer after it is shown, without delaying keys or later searches.

Reading the passages takes one short engine call. The model runs on a thread of its own, one passage
at a time, and stops after the current one as soon as something newer is searched or ranked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.displayed_search import DisplayedSearch

if TYPE_CHECKING:
    from kbx_tui.api.searching.pending_reranking import PendingReranking
    from kbx_tui.search.evidence.evidence import Evidence

PAUSE_SECONDS = 0.2
"""Seconds without a key or a slider's move before the model runs."""


class RerankingPass:
    """Scores the first results of the displayed ranking that have no score yet."""

    def __init__(
        self,
        client: EngineClient,
        displayed: DisplayedSearch,
        *,
        pause: float,
        on_scores: Callable[[], object],
    ) -> None:
        """`on_scores` is called when the displayed evidence holds new scores, to rank it again."""
        self._client, self._displayed, self._on_scores = client, displayed, on_scores
        self._pause = pause
        self._latest = LatestOnly(client)
        self._pool: ThreadPoolExecutor | None = None

    @property
    def is_running(self) -> bool:
        """Whether scores are being computed or about to be."""
        return self._latest.is_running

    def start(self) -> None:
        """Score what the displayed ranking needs, after a pause; cancels what is running."""
        self._latest.start(self._run())

    def cancel(self) -> None:
        """Stop after the passage that is being scored."""
        self._latest.cancel()

    async def _run(self) -> None:
        await asyncio.sleep(self._pause)
        ranking = self._displayed.ranking
        if ranking is None:
            return
        pending = await self._client.run(lambda engine: engine.begin_reranking(ranking))
        if pending is None:
            return
        evidence = await self._scored(pending)
        if self._displayed.add_scores(evidence):
            self._on_scores()

    async def _scored(self, pending: PendingReranking) -> Evidence:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kbx-rerank")
        cancelled, closed = threading.Event(), self._client.closed

        def is_cancelled() -> bool:
            return cancelled.is_set() or closed.is_set()

        try:
            return await asyncio.wrap_future(self._pool.submit(pending.run, is_cancelled))
        finally:
            cancelled.set()
