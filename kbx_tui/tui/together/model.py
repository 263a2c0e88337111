"""The search of several bases: the query, and what the bases have answered so far."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import KbxError, NotTrusted
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.base_session import CLOSE_SECONDS
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, OpenEngine
from kbx_tui.tui.engine.index_sync import IndexFollower, IndexSync
from kbx_tui.tui.shell.messages import Newest
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.several_bases import Answer, SeveralResponse
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.search.request import SearchRequest
    from kbx_tui.search.results.response import SearchResponse


LIMIT = 50
"""Results shown, and asked for in each base."""
PATIENCE = 0.25
"""Seconds that the answers of quick bases wait for those of slow ones, so that rows do not jump."""


class BasesChanged(Newest):
    """What a base holds, or what is done to it, has changed."""


@dataclass
class AnswersMerged(Newest):
    """Some or all bases have answered the query."""

    response: SeveralResponse
    is_complete: bool
    """Whether every base that can be searched has answered."""


@dataclass
class QueryRefused(Message):
    """No base can answer the query as it is typed."""

    reason: str


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
            self.post(AnswersMerged(merge(request, self._answers), is_complete))
        except KbxError as error:
            self.post(QueryRefused(safe_line(str(error))))

    def _found(self, name: str) -> str:
        if name in self._late:
            return "searching …"
        answer = self._answers.get(name)
        if isinstance(answer, KbxError):
            return safe_line(str(answer))
        return "" if answer is None else found_words(answer)


class TogetherBase:
    """A base whose index is kept up to date while several are searched.

    What it has to say it says in its row, so that it is the `Status` of its own indexing.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        open_engine: OpenEngine,
        *,
        writes: bool,
        on_change: Callable[[], object],
        on_content: Callable[[], object],
    ) -> None:
        """`on_change` is called when `words` change, `on_content` when the base has other content.

        Opens nothing yet.
        """
        self.name, self.root = name, root
        self._on_change, self._on_content = on_change, on_content
        self.client = EngineClient(open_engine, on_error=self._take_error)
        self.index_sync = (IndexSync if writes else IndexFollower)(
            self.client,
            open_engine,
            self,
            on_growth=lambda changed: self.client.start(self._count()),
            on_question=self._take_question,
        )
        self.is_searchable = False
        """Whether it is open and has an index."""
        self._problem = self._progress = ""
        self._is_asked = False
        self._documents: int | None = None

    @property
    def words(self) -> str:
        """What it holds, or why it cannot be searched."""
        if self._problem:
            return self._problem
        holds = "" if self._documents is None else format_count(self._documents, "document")
        return " · ".join(filter(None, (holds, self._progress))) or "opening …"

    def start(self) -> None:
        """Open the base, or try again; index what is missing, and watch its files."""
        self._problem = ""
        if self._is_asked:  # it may have been indexed, or declined, in the meantime
            self._is_asked = False
            self.index_sync.answer(confirmed=False)
        self.client.start(self._open())

    def note_answer(self) -> None:
        """Forget an error of an earlier search: the base has answered."""
        if not self._is_asked:
            self._problem = ""

    def rest(self) -> None:
        """Stop watching: the base is open alone, or is not looked at."""
        self.index_sync.stop_watching()

    # The status of indexing.

    def show_notice(self, text: str) -> None:
        """Ignore a notice: what changed is found by the next search."""

    def show_error(self, text: str) -> None:
        """Show an error in place of what the base holds."""
        self._problem = safe_line(text)
        self._on_change()

    def show_progress(self, text: str) -> None:
        """Show the progress of indexing; an empty text removes it."""
        self._progress = safe_line(text)
        self._on_change()

    # Opening and counting.

    async def _open(self) -> None:
        await self._count()
        if self.is_searchable:
            await self.client.run(lambda engine: engine.warm())
        self.index_sync.index(by_user=True)
        self.index_sync.watch()

    async def _count(self) -> None:
        def count(engine: KnowledgeBase) -> int | None:
            return engine.documents.count_scope("")[1] if engine.is_indexed() else None

        self._documents = await self.client.run(count)
        self.is_searchable = self._documents is not None
        self._problem = ""
        self._on_change()
        self._on_content()

    def _take_question(self, question: IndexQuestion) -> None:
        self._is_asked = True
        self.show_error(f"{question.count} to index: enter opens it alone, and asks")

    def _take_error(self, error: Exception) -> None:
        if isinstance(error, NotTrusted):
            self.show_error("asks for your permission: enter opens it alone, and shows for what")
            return
        if not isinstance(error, KbxError):
            logger().error("%s", error, exc_info=error)
        self.show_error(str(error).strip() or type(error).__name__)


NAME_WIDTH = 18
"""The widest name of a base that is shown whole, in cells."""


@dataclass(frozen=True, slots=True)
class BaseRow:
    """One of the bases."""

    name: str
    holds: str
    """What it holds, or why it cannot be searched yet."""
    found: str = ""
    """What it has for the query; empty before it has answered."""


def note_words(response: SeveralResponse) -> str:
    """Return the notes of those bases that have results: the rows of others say they have none."""
    return "; ".join(
        safe_line(f"{name}: {note}")
        for name, answer in response.responses.items()
        if answer.results
        for note in answer.meta.notes
    )


def found_words(answer: SearchResponse) -> str:
    """Return what a base has for a query: `12 found · Alice Chen, Migration`."""
    kept = (answer.meta.explain or {}).get("kept_entities", ())
    names = ", ".join(
        safe_line(entity.name) for entity in answer.meta.pass1_entities if entity.id in kept
    )
    found = f"{answer.meta.total_matched:,} found"
    return " · ".join(filter(None, (found, shorten(names, 60))))


def count_words(response: SeveralResponse) -> str:
    """Return the title of the results: `Results · 50 best of 188`."""
    shown = len(response.results)
    matched = sum(answer.meta.total_matched for answer in response.responses.values())
    if matched > shown > 0:
        return f"Results · {shown} best of {matched:,}"
    return format_count(shown, "result").capitalize() if shown else "Results"
