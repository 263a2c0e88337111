"""Judging on the explore screen: which document a key is about, and which one comes next."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.explore.answer_display import AnswerDisplay
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.reader import Reader
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.judging.model import DEPTH, JudgedDocument, judging_order
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.frame_screen import ModeScreen

NO_QUERY = "type a query first: a grade says how well a document answers it"
NO_ANSWER = "nothing was graded: the results of this query are not there yet"
NO_DOCUMENT = "no document is chosen: go to one first"


class ResultJudge:
    def __init__(self, screen: ModeScreen, answer: AnswerDisplay, reader: Reader) -> None:
        self._screen, self._answer, self._reader = screen, answer, reader
        self._model, self._judging = screen.session.explore, screen.session.judging
        self._proposed = ""
        """The document that was last gone to as the next to judge."""

    def show(self) -> None:
        """Show the grades of the query on the screen."""
        view = self._answer.view
        grades = self._judging.grades_of(view.query) if view is not None else {}
        self._screen.query_one(ResultList).show_grades(grades)
        self._screen.query_one(PreviewPane).show_grades(grades)

    def current(self) -> JudgedDocument | str:
        """Return the document that a grade key is about, or why there is none.

        The open document where it has the focus, else the result under the cursor.
        """
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
        """Why no document is judged: a key typed ahead grades what was not seen."""
        return NO_ANSWER if self._typed else NO_QUERY

    @property
    def _typed(self) -> str:
        """The query in the query line, which the model may not have yet."""
        return self._screen.query_one(QueryLine).value.strip()

    def move_on(self, graded: JudgedDocument) -> str:
        """Go to the next row below that has no grade, else to the next to judge, if any."""
        rows = self._screen.query_one(ResultList).rows
        paths = [result.path for result in rows]
        if graded.path not in paths:  # a link led there
            return ""
        judged = self._judging.judged_paths(graded.query)
        for result in rows[paths.index(graded.path) + 1 :]:
            if result.rank <= DEPTH and result.path not in judged:
                self._go(result.path)
                return ""
        return self._go_to_next(judged)

    def next(self) -> str:
        """Go to the document on which A and the current settings disagree most.

        From there to the others in turn.
        """
        view = self._answer.view
        if view is None or view.query != self._typed:
            return self._no_answer
        return self._go_to_next(self._judging.judged_paths(view.query))

    def return_to(self, query: str, path: str) -> None:
        paths = [result.path for result in self._screen.query_one(ResultList).rows]
        if self._answer.view is not None and self._answer.view.query == query and path in paths:
            self._go(path)

    def _go_to_next(self, judged: Collection[str]) -> str:
        ranking, engine = self._model.displayed.ranking, self._model.engine
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
        document = self.current()
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
