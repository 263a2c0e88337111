"""Writes the results of the current search to a page that others can open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.shell.mode_screen import ModeScreen

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

SHARED_RESULTS = 20
"""Results on a page: those that a reranker ranks, and about what is read."""


class ResultSharer:
    """Shares the results of a screen."""

    def __init__(self, screen: ModeScreen, session: BaseSession) -> None:
        self._screen, self._session = screen, session

    def share(self) -> None:
        """Write the first results to a page, and save it for the user."""
        if self._session.explore.state.query:
            self._session.client.start(self._share())
        else:
            self._screen.show_notice("there are no results to share: type a query first")

    async def _share(self) -> None:
        request = replace(self._session.explore.state.request(), limit=SHARED_RESULTS)

        def make(engine: KnowledgeBase) -> tuple[str, int]:
            from kbx_tui.sharing.search_page import search_page
            from kbx_tui.sharing.shared_search import share_search

            shared = share_search(engine, request)
            return search_page(shared), len(shared.answer.results)

        page, count = await self._session.client.run(make)
        place = await self._screen.navigator.save_page(request.searched, page)
        self._screen.show_notice(safe_line(f"wrote {format_count(count, 'result')} to {place}"))
