"""Judging from the tune mode: the results of its queries are graded in explore."""

from __future__ import annotations

from collections.abc import Callable

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.judging.judging_screen import JudgedDocument

GRADE_HINT = "open the query first: its results are what is graded"


class QueryJudge:
    """Leads from the query under the cursor to its results."""

    def __init__(self, show: Callable[[], object], open_query: Callable[[], bool]) -> None:
        """`open_query` opens the query under the cursor, and returns whether there is one."""
        self._show, self._open_query = show, open_query

    def show(self, keymap: Keymap) -> None:
        self._show()

    def current(self) -> JudgedDocument | str:
        return GRADE_HINT

    def move_on(self, graded: JudgedDocument) -> str:
        return ""

    def next(self) -> str:
        return "" if self._open_query() else "no query is judged yet"

    def return_to(self, query: str, path: str) -> None:
        """Stay in the list of queries."""
