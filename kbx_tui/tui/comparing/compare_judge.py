"""Judging on the compare screen: which document a key is about, and which one comes next."""

from __future__ import annotations

from textual.screen import Screen

from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.comparing.side_by_side import SideBySide
from kbx_tui.tui.judging.judging_screen import JudgedDocument


class CompareJudge:
    """Grades the results of both lists: those of B first, then those that only A has."""

    def __init__(self, screen: Screen[None], session: BaseSession) -> None:
        self._screen, self._explore, self._judging = screen, session.explore, session.judging

    @property
    def _list(self) -> SideBySide:
        return self._screen.query_one(SideBySide)

    def show(self, keymap: Keymap) -> None:
        """Show the grades of the query."""
        self._list.show_grades(self._judging.grades.of(self._explore.state.query))

    def current(self) -> JudgedDocument | str:
        """Return the result under the cursor, or why there is none."""
        result, ranking = self._list.result, self._explore.displayed.ranking
        if result is None or ranking is None:
            return "no document is chosen: go to one first"
        return JudgedDocument(ranking.evidence.query, result.path, result.title, ranking.tuning)

    def move_on(self, graded: JudgedDocument) -> str:
        """Go to the first result of either list that has no grade, if any."""
        return self.next()

    def next(self) -> str:
        """Go to the first result of either list that has no grade."""
        judged = self._judging.judged_paths(self._explore.state.query)
        for on_left, paths in enumerate((self._list.paths(False), self._list.paths(True))):
            for row, path in enumerate(paths):
                if path and path not in judged:
                    self._list.go_to(row, left=bool(on_left))
                    return ""
        return "all results of both lists are judged" if self._list.rows else "nothing to judge"

    def return_to(self, query: str, path: str) -> None:
        """Go back to the result whose grade was taken back, if it is in one of the lists."""
        for left in (False, True):
            if query == self._explore.state.query and path in (paths := self._list.paths(left)):
                self._list.go_to(paths.index(path), left=left)
                return
