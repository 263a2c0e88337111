"""Completion of a path that is being typed: it stands behind the cursor, all there are are told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.suggester import Suggester

from kbx_tui.log_file import logger
from kbx_tui.safe_text import visible

Complete = Callable[[str], Awaitable[tuple[str, ...]]]
"""Returns texts that continue the one given, folders first."""


class Completing(Suggester):
    """Asks for completions, and tells all of them; the first stands behind the cursor."""

    def __init__(self, complete: Complete, offer: Callable[[str, tuple[str, ...]], None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete, self._offer = complete, offer

    async def get_suggestion(self, value: str) -> str | None:
        try:
            found = await self._complete(value)
        except Exception as error:  # it would end the app: a search says what is wrong
            logger().warning("no completion of %r: %s", value, error)
            found = ()
        candidates = tuple(path for path in found if visible(path) == path)
        self._offer(value, candidates)
        first = candidates[0] if candidates else ""
        return first if first.startswith(value) and first != value else None
