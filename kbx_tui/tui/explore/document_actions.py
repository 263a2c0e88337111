"""Actions of explore on the current document: edit, copy, share and grade it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kbx_tui.errors import NotFound
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line, safe_lines
from kbx_tui.search.request import command_line
from kbx_tui.tui.explore.answer_display import AnswerDisplay
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.reader import Reader
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.judging.model import DEPTH, JudgedDocument, judging_order
from kbx_tui.tui.reading.documents import whole_passage
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.frame_screen import ModeScreen

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.results.response import Snippet


NO_DOCUMENT = "no document is chosen: go to one first"
Content = Literal["path", "citation", "snippet", "command"]
COMMAND = "command line"
SHARED_RESULTS = 20
"""Number of results on a shared page: as many as a reranker ranks, and about all that are read."""


class DocumentActions:
    def __init__(self, screen: ModeScreen, reader: Reader) -> None:
        self._screen, self._session, self._reader = screen, screen.session, reader
        self._model = screen.session.explore

    async def edit(self) -> None:
        path, line = self._current()
        if path:
            self._reader.count_opening(path)
        if not await self._screen.edit_file(path, line):
            self._screen.show_notice(NO_DOCUMENT)

    def linked_path(self) -> str:
        focused = self._screen.focused
        if isinstance(focused, EntityCard):
            return focused.card.path if focused.card is not None else ""
        return self._current()[0]

    def copy(self, content: Content) -> None:
        path, line = self._current()
        if text := self._text(content, path, line):
            self._session.client.start(self._copy(content, path, text))
        elif safe_line(path) != path:
            self._screen.show_notice("not copied: the name of this file holds control characters")
        else:
            self._screen.show_notice("nothing to copy: type a query and go to a result first")

    async def _copy(self, content: Content, path: str, text: str) -> None:
        if content == "snippet":
            snippet = self._model.displayed.snippets[path]

            def read(engine: KnowledgeBase) -> str:
                lines = safe_lines(engine.documents.view(path).text)
                return whole_passage(lines, snippet.line_start, snippet.line_end)

            with suppress(NotFound):  # if it is gone, copy the snippet as indexed
                text = await self._session.client.run(read) or text
        name = {"command": COMMAND, "snippet": "passage"}.get(content, content)
        self._screen.show_notice(await self._screen.app.copy(name, text))

    def share(self) -> None:
        if self._model.state.query:
            self._session.client.start(self._share())
        else:
            self._screen.show_notice("there are no results to share: type a query first")

    async def _share(self) -> None:
        request = replace(self._model.state.request(), limit=SHARED_RESULTS)

        def make(engine: KnowledgeBase) -> tuple[str, int]:
            from kbx_tui.sharing.search_page import search_page
            from kbx_tui.sharing.shared_search import share_search

            shared = share_search(engine, request)
            return search_page(shared), len(shared.answer.results)

        page, count = await self._session.client.run(make)
        place = await self._screen.app.save_page(request.searched, page)
        self._screen.show_notice(safe_line(f"wrote {format_count(count, 'result')} to {place}"))

    def refresh_index(self) -> None:
        shown = [result.path for result in self._screen.query_one(ResultList).rows]
        read = self._screen.query_one(PreviewPane).path
        self._session.index_sync.index(maybe_changed=[*shown, read], by_user=True)

    def _current(self) -> tuple[str, int]:
        """Return the current path (empty if none) and 1-based line (0 if unknown)."""
        focused = self._screen.focused
        if isinstance(focused, PreviewPane):
            return focused.path, focused.current_line
        if isinstance(focused, EntityCard):
            return focused.current_path, 0
        if isinstance(focused, EntityList):
            return (focused.current.path if focused.current is not None else ""), 0
        result = self._screen.query_one(ResultList).current
        if result is None:
            return "", 0
        snippet = self._model.displayed.snippets.get(result.path)
        return result.path, snippet.line_start if snippet is not None else 0

    def _text(self, content: Content, path: str, line: int) -> str:
        model = self._model
        if content == "command":
            if not model.state.query:
                return ""
            roots = [model.summary.root] if model.summary is not None else []
            return command_line(model.state.request(), model.defaults.request(), roots)
        results = self._screen.query_one(ResultList).rows
        titles = {result.path: (result.title, result.date) for result in results}
        preview = self._screen.query_one(PreviewPane).preview
        if preview is not None:
            titles[preview.path] = (preview.title, preview.date)
        return text_of_document(content, path, line, titles, model.displayed.snippets)


def text_of_document(
    content: Content,
    path: str,
    line: int,
    titles: Mapping[str, tuple[str, str]],
    snippets: Mapping[str, Snippet],
) -> str:
    """Return the text to copy of the document at `path`, empty when there is none.

    A path with control characters is not copied: a terminal would interpret them.
    """
    if not path or safe_line(path) != path:
        return ""
    if content == "path":
        return f"{path}:{line}" if line else path
    if content == "citation":
        title, date = titles.get(path, (Path(path).stem, ""))
        return citation(title, date, path, line)
    return snippets[path].text if path in snippets else ""


def citation(title: str, date: str, path: str, line: int) -> str:
    """Return a Markdown link: `[Platform sync (2026-03-10), line 12](memory/meetings/sync.md)`."""
    label = (f"{title} ({date})" if date else title) + (f", line {line}" if line else "")
    for sign in "\\[]":
        label = label.replace(sign, f"\\{sign}")
    target = f"<{path}>" if any(sign in path for sign in " ()<>") else path
    return f"[{label}]({target})"


NO_QUERY = "type a query first: a grade says how well a document answers it"
NO_ANSWER = "nothing was graded: the results of this query are not there yet"


class ResultJudge:
    def __init__(self, screen: ModeScreen, answer: AnswerDisplay, reader: Reader) -> None:
        self._screen, self._answer, self._reader = screen, answer, reader
        self._model, self._judging = screen.session.explore, screen.session.judging
        self._proposed = ""

    def show_grades(self) -> None:
        view = self._answer.view
        is_asked = view is not None and self._screen.app_state.shows_measures
        grades = self._judging.grades_of(view.query) if view is not None and is_asked else {}
        self._screen.query_one(ResultList).show_grades(grades)
        self._screen.query_one(PreviewPane).show_grades(grades)

    def document_to_grade(self) -> JudgedDocument | str:
        """Return the focused open document, else the current result, else why there is neither."""
        view, ranking = self._answer.view, self._model.displayed.ranking
        if view is None or ranking is None or view.query != self._typed:
            return self._no_answer
        pane, result = self._screen.focused, self._screen.query_one(ResultList).current
        if isinstance(pane, PreviewPane) and pane.preview is not None:
            title = pane.preview.title or safe_line(pane.path)
            return JudgedDocument(view.query, pane.path, title, ranking.tuning)
        if result is None:
            return NO_DOCUMENT
        return JudgedDocument(view.query, result.path, result.title, ranking.tuning)

    @property
    def _no_answer(self) -> str:
        """Why no document is graded: the answer to the typed query is not on screen yet."""
        return NO_ANSWER if self._typed else NO_QUERY

    @property
    def _typed(self) -> str:
        """The query in the query line, which the model may not have yet."""
        return self._screen.query_one(QueryLine).value.strip()

    def move_on(self, graded: JudgedDocument) -> str:
        """Go to the next ungraded result below, else to the next to judge, if any."""
        rows = self._screen.query_one(ResultList).rows
        paths = [result.path for result in rows]
        if graded.path not in paths:  # it was reached by a link
            return ""
        judged = self._judging.judged_paths(graded.query)
        for result in rows[paths.index(graded.path) + 1 :]:
            if result.rank <= DEPTH and result.path not in judged:
                self._go(result.path)
                return ""
        return self._go_to_next(judged)

    def go_to_next(self) -> str:
        """Go to the ungraded document on which A and the current settings disagree most."""
        view = self._answer.view
        if view is None or view.query != self._typed:
            return self._no_answer
        return self._go_to_next(self._judging.judged_paths(view.query))

    def return_to(self, query: str, path: str) -> None:
        paths = [result.path for result in self._screen.query_one(ResultList).rows]
        if self._answer.view is not None and self._answer.view.query == query and path in paths:
            self._go(path)

    def _go_to_next(self, judged: Collection[str]) -> str:
        ranking, engine = self._model.displayed.ranking, self._screen.session.client.engine
        pinned = self._judging.pinned
        if ranking is None or engine is None:
            return NO_QUERY
        evidence, tuning = ranking.evidence, ranking.tuning
        now = ranking.best_paths(DEPTH)
        if not now:
            return "there is no result to judge"
        start = now
        is_comparable = pinned is not None and pinned.is_fast == evidence.fast
        if is_comparable and pinned is not None and pinned.tuning.preset == tuning.preset:
            of_a = replace(pinned.tuning, muted=tuning.muted, pinned=tuning.pinned)
            start = engine.rank(evidence, of_a).best_paths(DEPTH)
        order = judging_order(now, start, judged)
        if not order:
            return f"the first {format_count(len(now), 'result')} are judged: ask another query"
        document = self.document_to_grade()
        is_there = isinstance(document, JudgedDocument) and document.path == self._proposed
        follows = order.index(self._proposed) + 1 if is_there and self._proposed in order else 0
        self._proposed = order[follows % len(order)]
        self._go(self._proposed)
        return ""

    def _go(self, path: str) -> None:
        results = self._screen.query_one(ResultList)
        rows = [row for row, result in enumerate(results.rows) if result.path == path]
        is_reading = isinstance(self._screen.focused, PreviewPane)
        if rows:
            results.choose(rows[0])
            if not is_reading:
                self._screen.set_focus(results)
        if (is_reading and self._reader.is_open) or not rows:
            self._reader.open_document(path, focus=True, replace=is_reading)
