"""Several bases searched together: one query line, one list, each row with its base.

Entering a row opens its base with the same query.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message

from kbx_tui.errors import KbxError, NotTrusted
from kbx_tui.formatting import format_count, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import as_read
from kbx_tui.tui.base_session import CLOSE_SECONDS, Bases
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import ANY_MODE
from kbx_tui.tui.drawing.lines import (
    Line,
    Span,
    fit,
    fit_line,
    highlight,
    looks,
    shared_lengths,
    shorten,
    title_spans,
)
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, OpenEngine
from kbx_tui.tui.engine.index_sync import IndexFollower, IndexSync
from kbx_tui.tui.shell.frame_screen import FrameScreen
from kbx_tui.tui.terminal_app import Failure, Newest, OpenBase
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import EmptyState, RowsView, titled_text
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.several_bases import Answer, OwnedResult, SeveralResponse
    from kbx_tui.index.index_status import IndexQuestion


LIMIT = 50
PATIENCE = 0.25
"""Seconds that the answers of quick bases wait for those of slow ones, so that rows do not jump."""


class BasesChanged(Newest):
    """What a base holds, or what is done to it, has changed."""


@dataclass
class AnswersMerged(Newest):
    response: SeveralResponse
    is_complete: bool


class TogetherModel:
    """The bases, and the newest answers. It outlives the visits to a single base."""

    def __init__(self, roots: Mapping[str, Path], bases: Bases, debounce: float) -> None:
        """`roots` are those of the bases by name, `debounce` the pause after typing in seconds."""
        self.post: Callable[[Message], object] = lambda message: None
        self.query = ""
        self._debounce = debounce
        self.bases = tuple(
            TogetherBase(
                name,
                root,
                partial(bases.open, root),
                writes=bases.writes,
                on_change=lambda: self.post(BasesChanged()),
                on_content=self.search_again,
            )
            for name, root in roots.items()
        )
        self._searches = LatestOnly(self.bases[0].client)

    def start(self) -> None:
        for base in self.bases:
            base.start()

    async def stop(self) -> None:
        for base in self.bases:
            base.client.closed.set()
        await asyncio.gather(*(base.index_sync.stop() for base in self.bases))
        closing = [asyncio.wrap_future(base.client.close()) for base in self.bases]
        await asyncio.wait(closing, timeout=CLOSE_SECONDS)

    def root_of(self, name: str) -> Path:
        return next(base.root for base in self.bases if base.name == name)

    def ask(self, query: str) -> None:
        if query != self.query:
            self.query = query
            for base in self.bases:
                base.answer, base.is_late = None, False
            if query:
                self._searches.start(self._search(query, self._debounce))
            else:
                self._searches.cancel()
                self.post(BasesChanged())

    def search_again(self) -> None:
        if self.query:
            self._searches.start(self._search(self.query, 0.0))

    async def _search(self, query: str, debounce: float) -> None:
        await asyncio.sleep(debounce)
        try:
            request = SearchRequest(query, limit=LIMIT, explain=True, rerank=False)
        except KbxError as error:
            self.post(Failure(safe_line(str(error))))
            return
        from kbx_tui.api.several_bases import merge

        searchable = [base for base in self.bases if base.is_searchable]
        answers: dict[str, Answer] = {}
        waiting = {asyncio.ensure_future(base.ask(request, answers)) for base in searchable}
        shown = 0
        try:
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=PATIENCE)
                for base in searchable:
                    base.is_late = bool(waiting) and base.name not in answers
                if len(answers) > shown:
                    shown = len(answers)
                    for base in self.bases:
                        base.answer = answers.get(base.name)
                    try:
                        self.post(AnswersMerged(merge(request, answers), not waiting))
                    except KbxError as error:
                        self.post(Failure(safe_line(str(error))))
                self.post(BasesChanged())
        finally:
            for task in waiting:
                task.cancel()


class TogetherBase:
    """A base of several, with an index kept up to date, whose `Status` is its row in the list."""

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
        """`on_change` is called when `words` change, `on_content` when the content does."""
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
        self.answer: Answer | None = None
        self.is_late = False
        """Whether its answer is waited for longer than those of other bases."""
        self._problem = self._progress = ""
        self._is_asked = False
        self._documents: int | None = None

    @property
    def words(self) -> str:
        if self._problem:
            return self._problem
        holds = "" if self._documents is None else format_count(self._documents, "document")
        return " · ".join(filter(None, (holds, self._progress))) or "opening …"

    @property
    def found(self) -> str:
        """What it has for the query: `12 found · Alice Chen, Migration`."""
        if self.is_late:
            return "searching …"
        answer = self.answer
        if answer is None or isinstance(answer, KbxError):
            return safe_line(str(answer or ""))
        kept = (answer.meta.explain or {}).get("kept_entities", ())
        names = ", ".join(
            safe_line(entity.name) for entity in answer.meta.pass1_entities if entity.id in kept
        )
        found = f"{answer.meta.total_matched:,} found"
        return " · ".join(filter(None, (found, shorten(names, 60))))

    def start(self) -> None:
        self._problem = ""
        if self._is_asked:  # it may have been indexed, or declined, in the meantime
            self._is_asked = False
            self.index_sync.answer(confirmed=False)
        self.client.start(self._open())

    async def ask(self, request: SearchRequest, answers: dict[str, Answer]) -> None:
        from kbx_tui.api.several_bases import ask

        try:
            answers[self.name] = await self.client.run(partial(ask, request=request))
        except Exception as error:
            self.client.report(error)
        else:
            if not self._is_asked:
                self._problem = ""

    # The status of indexing.

    def show_notice(self, text: str, *, yields: bool = False) -> None:
        """Ignore a notice: what changed is found by the next search."""

    def show_error(self, text: str) -> None:
        self._problem = safe_line(text)
        self._on_change()

    def show_progress(self, text: str) -> None:
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


def note_words(response: SeveralResponse) -> str:
    """Return the notes of those bases that have results: the rows of others say they have none."""
    return "; ".join(
        safe_line(f"{name}: {note}")
        for name, answer in response.responses.items()
        if answer.results
        for note in answer.meta.notes
    )


def count_words(response: SeveralResponse) -> str:
    shown = len(response.results)
    matched = sum(answer.meta.total_matched for answer in response.responses.values())
    if matched > shown > 0:
        return f"Results · {shown} best of {matched:,}"
    return format_count(shown, "result").capitalize() if shown else "Results"


DATED = 64
TALL = 16


def name_column(names: list[str], width: int) -> int:
    return min(max(map(cell_len, names), default=0), NAME_WIDTH, max(width // 4, 6))


class OwnedList(RowsView["OwnedResult"]):
    COMPONENT_CLASSES = looks("strong", "entity", "cursor")
    BINDINGS = bindings("together_results")
    LEAVE_ACTION = "screen.focus_query"

    _titles: Sequence[str] = ()
    _shared: Sequence[int] = ()
    _name_width = 0
    _wanted: tuple[str, str] | None = None
    _placed: OwnedResult | None = None
    """The result on which `show` put the cursor."""

    def show(self, results: Sequence[OwnedResult], *, is_new: bool) -> None:
        """Show results; unless `is_new`, the cursor keeps its document, even if missing for now."""
        if is_new or not self.chosen:
            self._wanted = None
        elif self.current is not None and self.current is not self._placed:  # moved by the user
            self._wanted = _place(self.current)
        places = [_place(own) for own in results]
        at = places.index(self._wanted) if self._wanted in places else 0
        self.chosen = self._wanted is not None
        self._titles = [safe_line(own.result.title) for own in results]
        self._shared = shared_lengths(self._titles)
        self.show_at(tuple(results), at)
        self._placed = self.current

    def row_heights(self) -> list[int]:
        return [2 if self.visible_height >= TALL else 1] * len(self.rows)

    def rebuild_lines(self) -> None:
        self._name_width = name_column([row.base for row in self.rows], self.line_width)
        super().rebuild_lines()

    def row_line(self, row: int, part: int, width: int) -> Line:
        own, result = self.rows[row], self.rows[row].result
        if part:
            indent = Span(" " * (11 + self._name_width))
            read = as_read(result.snippet, result.line_breaks)
            return fit_line((indent, *highlight(read.text, read.ranges(result.matches))), width - 1)
        date = f" {fit(safe_line(result.date[:10]), 10)}" if width >= DATED else ""
        exact = " =" if own.is_known_item else ""
        head = f"{row + 1:>3} "
        score = f"{format_score(result.score):>4} "
        taken = 1 + len(head) + len(score) + self._name_width + 2 + len(exact) + len(date)
        return (
            Span(self.marker(row) + head, "dim"),
            Span(score),
            Span(fit(own.base, self._name_width) + "  ", "entity"),
            *title_spans(self._titles[row], self._shared[row], max(width - taken, 0)),
            Span(exact, "dim"),
            Span(date, "dim"),
        )


def _place(own: OwnedResult) -> tuple[str, str]:
    return own.base, own.result.path


class BaseList(RowsView[TogetherBase]):
    COMPONENT_CLASSES = looks("strong", "entity", "cursor")
    BINDINGS = bindings("together_bases")
    LEAVE_ACTION = "screen.focus_query"

    def row_line(self, row: int, part: int, width: int) -> Line:
        base = self.rows[row]
        names = name_column([each.name for each in self.rows], width)
        room = max(width - names - 4, 0)
        found = shorten(base.found, room // 2)
        holds = shorten(base.words, max(room - cell_len(found) - 2, 0))
        gap = " " * max(room - cell_len(holds) - cell_len(found), 0)
        name = Span(fit(base.name, names), "entity")
        return (
            Span(self.marker(row) + " ", "dim"),
            name,
            Span(f"  {holds}"),
            Span(gap + found, "dim"),
        )


class TogetherLine(OrderedInput):
    BINDINGS = bindings("together_line")

    def __init__(self) -> None:
        super().__init__("search all bases: a person, a project, any words")


class Together(FrameScreen):
    BINDINGS = bindings("together", *ANY_MODE)
    AUTO_FOCUS = "TogetherLine"
    MODE = "together"
    MAIN_LIST = OwnedList

    def __init__(self, model: TogetherModel) -> None:
        super().__init__()
        self.model = model
        self.answer: AnswersMerged | None = None

    def show_query(self, query: str) -> None:
        self.query_one(TogetherLine).value = query
        self.action_leave_field()

    @property
    def base_words(self) -> tuple[str, str]:
        return format_count(len(self.model.bases), "base"), "searched together"

    @property
    def root_in_hand(self) -> Path:
        """The root of the base in which the keys for modes open a mode: that under the cursor."""
        bases, result = self.query_one(BaseList), self.query_one(OwnedList).current
        if result is not None and not bases.has_focus:
            return self.model.root_of(result.base)
        return self.model.bases[bases.cursor].root

    def meanings(self) -> Iterable[tuple[str, str]]:
        match self.focused:
            case OwnedList() as results if (row := results.current) is not None:
                score = format_score(row.result.score)
                yield score, "how well it answers, 0 to 1, in every base alike."
                yield row.base, "the base that it is in."
                if row.is_known_item:
                    yield "=", "the query is its title, path or name, so it comes first."
            case BaseList() as bases if (base := bases.current) is not None:
                yield base.words, "what it holds, or why it cannot be searched."
                if base.found:
                    found = "how many documents match, and which entities were found first."
                    yield base.found, found

    def compose_panes(self) -> ComposeResult:
        line, bases, results = TogetherLine(), BaseList(), OwnedList()
        line.border_title, bases.border_title = "search", "Bases"
        results.border_title, results.empty_state = "Results", self._before_a_query
        yield from (line, bases, results)

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self.on_bases_changed()

    def fit(self, size: Size) -> None:
        frame = 0 if self.has_class("-small") else 2
        self.query_one(BaseList).styles.height = len(self.model.bases) + frame

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self.model.start)

    def on_screen_suspend(self) -> None:
        for base in self.model.bases:
            base.index_sync.stop_watching()  # one of them is open alone, or none is looked at

    @property
    def _before_a_query(self) -> EmptyState:
        key = self.app.keymap.key_of("mode.together")
        return titled_text(
            "Type a query: all these bases are searched.",
            "Each result names its base. Enter reads it there, with the same query, and with the"
            f" reasons, sliders and entities of that base. {key} comes back to this list.",
        )

    # What has arrived.

    def on_bases_changed(self) -> None:
        bases = self.query_one(BaseList)
        bases.show_rows(self.model.bases, key=lambda base: base.name)

    def on_answers_merged(self, message: AnswersMerged) -> None:
        response, results = message.response, self.query_one(OwnedList)
        if response.query != self.model.query:
            return
        is_new = self.answer is None or self.answer.response.query != response.query
        self.answer = message
        self.query_one(StatusLine).clear_error()
        self.query_one(StatusLine).show_note(note_words(response))
        results.border_title = count_words(response)
        results.empty_state = titled_text(
            f"Nothing found for “{response.query}”." if message.is_complete else "Searching …"
        )
        results.show(response.results, is_new=is_new)

    @on(TogetherLine.Changed)
    def change_query(self, event: TogetherLine.Changed) -> None:
        query = event.value.strip()
        self.model.ask(query)
        if not query:
            self.answer = None
            results = self.query_one(OwnedList)
            results.border_title, results.empty_state = "Results", self._before_a_query
            results.show((), is_new=True)
            self.query_one(StatusLine).show_note("")

    @on(RowsView.Opened)
    def open_base(self, event: RowsView.Opened) -> None:
        row = event.row
        if isinstance(row, TogetherBase):
            root, path = row.root, ""
        else:
            root, path = self.model.root_of(row.base), row.result.path
        self.app.post_message(OpenBase(root, self.model.query, path))

    # Actions.

    def action_focus_query(self) -> None:
        self.set_focus(self.query_one(TogetherLine))

    def action_refresh(self) -> None:
        self.model.start()
        self.show_notice("indexing what has changed")
