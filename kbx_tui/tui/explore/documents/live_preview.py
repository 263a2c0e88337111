"""Reads the document under the cursor while the user moves, and keeps those read last.

A pause before each reading lets the cursor pass over documents without a call of the engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import NotFound
from kbx_tui.safe_text import safe_line
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.documents.reading_model import read_layout
from kbx_tui.tui.explore.messages import LivePreviewReady
from kbx_tui.tui.reading.reading_layout import TextLayout

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Evidence

PAUSE_SECONDS = 0.06
"""Seconds the cursor has to rest on a result before its document is read."""
KEPT = 16
"""Documents kept for the query on the screen."""


MOST_BYTES = 250_000
"""Bytes of a document that are previewed: its best passage is among the first 60,000 characters.
To read all of a very long page would make the next search wait."""


class LivePreview:
    """The documents previewed last, laid out for the query on the screen."""

    def __init__(
        self,
        client: EngineClient,
        evidence: Callable[[], Evidence | None],
        *,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        """`evidence` returns that of the query on the screen, for matches and the best passage."""
        self._client, self._evidence, self._pause = client, evidence, pause
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self._requests = LatestOnly(client)
        self._kept = LruCache[tuple[str, int], TextLayout](KEPT)
        """By path and width."""
        self._kept_for: object = None

    def show(self, path: str, width: int) -> None:
        """Show a document for a pane of `width` cells: at once if it was kept, else once read."""
        evidence = self._evidence()
        query = evidence.as_typed if evidence is not None else None
        if query is not self._kept_for:
            self.forget()
            self._kept_for = query
        self._requests.cancel()
        layout = self._kept.get((path, width))
        if layout is None:
            self._requests.start(self._read(path, width, evidence))
        else:
            self.post(LivePreviewReady(path, layout))

    def forget(self) -> None:
        """Read every document again when it is shown next: the query or files have changed."""
        self._kept = LruCache(KEPT)

    async def _read(self, path: str, width: int, evidence: Evidence | None) -> None:
        await asyncio.sleep(self._pause)  # the next move of the cursor cancels it here
        try:
            layout = await self._client.run(
                lambda engine: read_layout(engine, path, evidence, width, most=MOST_BYTES)
            )
        except NotFound as error:
            self.post(LivePreviewReady(path, None, safe_line(str(error))))
        else:
            self.post(LivePreviewReady(path, self._kept.put((path, width), layout)))
