"""Runs the newest search and the reranker after it, each beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.displayed_search import DisplayedSearch
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.gc_pauses import freeze_loaded

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.reranking import PendingReranking
    from kbx_tui.search.evidence.evidence import Evidence


DEBOUNCE_SECONDS = 0.08
"""Seconds without a key before a query is searched."""
SLOW_SEARCH_SECONDS = 0.15
"""Seconds after which the screen shows that a search is in progress."""


class SearchRun:
    """The newest retrieval: its pause, its call of the engine, and its repetition.

    A search during which the index grew is repeated, because it may have read the old one.
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        state: Callable[[], SearchState],
        open_base: Callable[[], Awaitable[bool]],
        debounce: float,
        is_open: Callable[[str], bool],
        on_slow: Callable[[], object],
        on_evidence: Callable[[SearchState, Evidence, bool], object],
    ) -> None:
        """`on_evidence` receives the state it was retrieved for, and whether the query is new.

        That state holds the completed query, if `is_open` says that the last word of the query may
        still be typed. `state` returns what is searched for now. `open_base` opens the base if need
        be and returns whether it can be searched. `on_slow` is called when a search takes long.
        """
        self._client, self._state, self._open_base = client, state, open_base
        self._debounce, self._is_open = debounce, is_open
        self._on_slow, self._on_evidence = on_slow, on_evidence
        self._latest = LatestOnly(client)
        self._retrieves: object = None
        """The `SearchState.retrieval_key` of the newest search."""
        self._is_outdated = False
        """Whether the index grew during the newest search."""
        self._index_generation = -1

    @property
    def is_running(self) -> bool:
        """Whether a search is in progress or about to start."""
        return self._latest.is_running

    def retrieves(self, state: SearchState) -> bool:
        """Return whether the newest search retrieves what `state` needs."""
        return self._retrieves == state.retrieval_key

    def start(self, *, is_typed: bool = False, is_new: bool = True) -> None:
        """Search for the current state; after a pause if it `is_typed`."""
        self._retrieves = self._state().retrieval_key
        self._latest.start(self._run(self._debounce if is_typed else 0.0, is_new=is_new))

    def cancel(self) -> None:
        """Drop the search in progress."""
        self._latest.cancel()

    def note_growth(self) -> None:
        """Repeat the search in progress: it may be reading the index as it was."""
        self._is_outdated = True

    async def _run(self, pause: float, *, is_new: bool) -> None:
        await asyncio.sleep(pause)  # a further key cancels this search here
        self._is_outdated = True
        while self._is_outdated:
            self._is_outdated = False
            state = self._state()
            try:
                found = await self._retrieve(state)
            except Exception:
                if not self._is_outdated:
                    raise
                continue
            if found is not None:
                self._on_evidence(*found, is_new)
                is_new = False

    async def _retrieve(self, state: SearchState) -> tuple[SearchState, Evidence] | None:
        """Return the evidence for `state`, with its query completed; None without an index."""
        slow = asyncio.get_running_loop().call_later(SLOW_SEARCH_SECONDS, self._on_slow)
        try:
            if not await self._open_base():
                return None  # a search follows as soon as the index holds text
            return await self._client.run(lambda engine: self._read(engine, state))
        finally:
            slow.cancel()

    def _read(self, engine: KnowledgeBase, state: SearchState) -> tuple[SearchState, Evidence]:
        if self._is_open(state.query):
            state = replace(state, query=engine.documents.complete_query(state.query))
        evidence = engine.retrieve(state.request())
        from kbx_tui.tui.explore import presenting  # noqa: F401  # loaded here, not between frames

        if evidence.generation != self._index_generation:
            self._index_generation = evidence.generation
            freeze_loaded()
        return state, evidence


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
