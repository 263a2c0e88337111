"""What the user's judging writes to disk: in order, and those still waiting when closing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.errors import KbxError
from kbx_tui.log_file import logger
from kbx_tui.tui.engine.client import EngineClient

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

Write = Callable[["KnowledgeBase"], object]


class WriteQueue:
    """Writes that have not begun; the engine's thread takes them."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._waiting: deque[Write] = deque()

    @property
    def has_waiting(self) -> bool:
        """Whether there are writes that have not begun."""
        return bool(self._waiting)

    async def run(self, write: Write) -> None:
        """Return once `write` is done. Raises what it raises."""
        self._waiting.append(write)
        await self._client.run(lambda engine: self._waiting.popleft()(engine))

    def finish(self, engine: KnowledgeBase) -> None:
        """Run the waiting writes, on the engine's thread: the app is closing."""
        while self._waiting:
            try:
                self._waiting.popleft()(engine)
            except KbxError as error:
                logger().error("%s", error, exc_info=error)
