"""Notices what other processes index, for an app that may not index itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kbx_tui.log_file import logger
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.engine.index_run import IndexRun
from kbx_tui.tui.engine.status import Status

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

LOOK_INTERVAL = 3.0
"""Seconds between two looks at whether the index has new content."""
NOT_INDEXED = "this knowledge base has no index yet: `kbx index` makes it"


class IndexFollower:
    """Takes the place of `IndexSync` where the base is open for reading only."""

    watching_words = "read-only: what others index appears within seconds"
    expects_own_writes = is_indexing = False

    def __init__(
        self,
        client: EngineClient,
        status: Status,
        *,
        on_growth: Callable[[frozenset[str]], None],
    ) -> None:
        """`on_growth` is called when the index has new content."""
        self._client, self._status, self._on_growth = client, status, on_growth
        self.interval = LOOK_INTERVAL
        self.on_run: Callable[[], object] = lambda: None
        self.run = IndexRun().in_state("idle")
        self._following: asyncio.Task[object] | None = None
        self._paths: Sequence[str] | None = None
        """The documents of the newest index: another object after each change of it."""

    def index(self, maybe_changed: Iterable[str] = (), *, by_user: bool = False) -> None:
        """Say so if there is no index: another process has to make it."""
        self._client.start(self._say_if_not_indexed())

    @property
    def is_watching(self) -> bool:
        """Whether changes of the index are noticed."""
        return self._following is not None

    def watch(self, *, by_user: bool = False) -> None:
        """Notice changes of the index from now on."""
        if self._following is None:
            self._following = self._client.start(self._follow())

    def stop_watching(self) -> None:
        """Notice no further changes."""
        if self._following is not None:
            self._following.cancel()
            self._following = None

    async def stop(self) -> None:
        """Stop watching; there is no run to wait for."""
        self.stop_watching()

    def expect(self, paths: Iterable[str]) -> None:
        """Do nothing, as what follows: the app writes no file, and there is no run."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def halt(self) -> None: ...

    def answer(self, *, confirmed: bool) -> None: ...

    async def _say_if_not_indexed(self) -> None:
        if not await self._client.look(lambda engine: engine.is_indexed()):
            self._status.show_error(NOT_INDEXED)

    async def _follow(self) -> None:
        while True:
            try:
                if await self._client.look(self._has_news):
                    self._on_growth(frozenset())
            except Exception as error:  # perhaps the index is just being replaced
                logger().warning("changes of the index are not noticed: %s", error)
            await asyncio.sleep(self.interval)

    def _has_news(self, engine: KnowledgeBase) -> bool:
        """Return whether the index has changed since the last call; runs on the engine's thread.

        A search may have read the new index already, so its content is compared as well.
        """
        if not engine.is_indexed():
            self._paths = ()
            return False
        is_newer, before = engine.refresh(), self._paths
        self._paths = engine.document_paths()
        return is_newer or (before is not None and self._paths is not before)
