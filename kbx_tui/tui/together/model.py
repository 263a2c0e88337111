"""The search of several bases: the query, and what the bases have answered so far."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.base_session import CLOSE_SECONDS
from kbx_tui.tui.engine.client import LatestOnly, OpenEngine
from kbx_tui.tui.together.messages import AnswersMerged, BasesChanged, QueryRefused
from kbx_tui.tui.together.together_base import TogetherBase
from kbx_tui.tui.together.view import BaseRow, found_words, together_view

if TYPE_CHECKING:
    from kbx_tui.api.several_bases import Answer
    from kbx_tui.search.request import SearchRequest

LIMIT = 50
"""Results shown, and asked for in each base."""
PATIENCE = 0.25
"""Seconds that the answers of quick bases wait for those of slow ones, so that rows do not jump."""


class TogetherModel:
    """The bases, and the newest answers. It outlives the visits to a single base."""

    def __init__(
        self,
        roots: Mapping[str, Path],
        open_base: Callable[[Path], OpenEngine],
        *,
        writes: bool,
        debounce: float,
    ) -> None:
        """`roots` are those of the bases by name, `debounce` the pause after typing in seconds.

        Without `writes`, the engines that are opened are for reading only.
        """
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self.query = ""
        self._debounce = debounce
        self._answers: dict[str, Answer] = {}
        self._late: frozenset[str] = frozenset()
        """Names of the bases that have not answered the query for a while."""
        self.bases = tuple(
            TogetherBase(
                name,
                root,
                open_base(root),
                writes=writes,
                on_change=lambda: self.post(BasesChanged()),
                on_content=self.search_again,
            )
            for name, root in roots.items()
        )
        self._searches = LatestOnly(self.bases[0].client)

    @property
    def rows(self) -> tuple[BaseRow, ...]:
        """The bases as rows."""
        return tuple(BaseRow(base.name, base.words, self._found(base.name)) for base in self.bases)

    def start(self) -> None:
        """Open the bases, or look again at what became of them."""
        for base in self.bases:
            base.start()

    def rest(self) -> None:
        """Leave the files alone while one base is open."""
        for base in self.bases:
            base.rest()

    async def stop(self) -> None:
        """Release the bases, after a moment for calls in progress."""
        for base in self.bases:
            base.client.closed.set()
        await asyncio.gather(*(base.index_sync.stop() for base in self.bases))
        closing = [asyncio.wrap_future(base.client.close()) for base in self.bases]
        await asyncio.wait(closing, timeout=CLOSE_SECONDS)

    def root_of(self, name: str) -> Path:
        """Return the root of a base."""
        return next(base.root for base in self.bases if base.name == name)

    def ask(self, query: str) -> None:
        """Search all bases after a short time without further changes."""
        if query != self.query:
            self.query = query
            self._answers, self._late = {}, frozenset()
            if query:
                self._searches.start(self._search(query, self._debounce))
            else:
                self._searches.cancel()
                self.post(BasesChanged())

    def search_again(self) -> None:
        """Ask the same query again: a base has other content."""
        if self.query:
            self._searches.start(self._search(self.query, 0.0))

    async def _search(self, query: str, debounce: float) -> None:
        await asyncio.sleep(debounce)
        from kbx_tui.search.request import SearchRequest

        try:
            request = SearchRequest(query, limit=LIMIT, explain=True, rerank=False)
        except KbxError as error:
            self.post(QueryRefused(safe_line(str(error))))
            return
        open_bases = [base for base in self.bases if base.is_searchable]
        answers: dict[str, Answer] = {}
        waiting = {asyncio.ensure_future(self._ask(base, request, answers)) for base in open_bases}
        shown = 0
        try:
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=PATIENCE)
                late = {base.name for base in open_bases} - answers.keys() if waiting else ()
                self._late = frozenset(late)
                if len(answers) > shown:
                    shown, self._answers = len(answers), dict(answers)
                    self._show(request, is_complete=not waiting)
                self.post(BasesChanged())
        finally:
            for task in waiting:
                task.cancel()

    async def _ask(
        self, base: TogetherBase, request: SearchRequest, answers: dict[str, Answer]
    ) -> None:
        from kbx_tui.api.several_bases import ask

        try:
            answers[base.name] = await base.client.run(partial(ask, request=request))
        except Exception as error:
            base.client.report(error)
        else:
            base.note_answer()

    def _show(self, request: SearchRequest, *, is_complete: bool) -> None:
        from kbx_tui.api.several_bases import merge

        try:
            view = together_view(merge(request, self._answers), is_complete=is_complete)
        except KbxError as error:
            self.post(QueryRefused(safe_line(str(error))))
        else:
            self.post(AnswersMerged(view))

    def _found(self, name: str) -> str:
        if name in self._late:
            return "searching …"
        answer = self._answers.get(name)
        if isinstance(answer, KbxError):
            return safe_line(str(answer))
        return "" if answer is None else found_words(answer)
