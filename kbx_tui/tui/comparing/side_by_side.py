"""The first results under A and under B in one list, joined by their ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.message import Message
from textual.reactive import reactive

from kbx_tui.formatting import format_score, stacked_bar
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.comparing.view import ComparedResult, RankRow
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import Line, Span, looks, width_of
from kbx_tui.tui.judging.grade_sign import grade_sign
from kbx_tui.tui.widgets.lines_view import EmptyState
from kbx_tui.tui.widgets.rows_view import RowsView

BOTH_FROM = 60
"""The width from which both lists are shown."""
BARS_FROM = 120
"""The width from which scores are shown, too."""
BAR = 12
MOVE = 4
"""Cells of `lost`, `▲12`."""


class SideBySide(RowsView[RankRow]):
    """A line per rank: A on the left, B on the right; the cursor is on one of them."""

    COMPONENT_CLASSES = looks(
        "strong", "accent", "document", "entity", "rule", "bad", "grade", "cursor"
    )
    BINDINGS = bindings("side_by_side")

    on_left: reactive[bool] = reactive(False)
    """Whether the cursor is on the result of A."""

    @dataclass
    class Opened(Message):
        """The user opened the result under the cursor."""

        result: ComparedResult

    class Highlighted(Message):
        """The cursor is on another result."""

    @property
    def result(self) -> ComparedResult | None:
        """The result under the cursor."""
        row = self.current
        if row is None:
            return None
        is_left = self.on_left and self.line_width >= BOTH_FROM
        return row.before if is_left else row.after

    def __init__(self) -> None:
        super().__init__()
        self._grades: Mapping[str, int | None] = {}
        self.marked = ""
        """Path of the result that others are compared with; empty for none."""

    def paths(self, left: bool) -> list[str]:
        """Return the paths of A or B by row, empty below the last result."""
        results = [row.before if left else row.after for row in self.rows]
        return [result.path if result is not None else "" for result in results]

    def go_to(self, row: int, *, left: bool) -> None:
        """Move the cursor to a result of A or B."""
        self.on_left = left
        self.choose(row)

    def show_grades(self, grades: Mapping[str, int | None]) -> None:
        """Show grades by path; None is not sure."""
        self._grades = grades
        self.refresh()

    def mark(self, path: str) -> None:
        """Mark this result in both lists; an empty path marks none."""
        self.marked = path
        self.refresh()

    def show(self, rows: tuple[RankRow, ...]) -> None:
        """Show these rows; the cursor stays at its rank."""
        self.rows = rows
        self.set_reactive(RowsView.cursor, self.validate_cursor(self.cursor))
        self.rebuild_lines()
        self.show_cursor()

    def show_empty(self, empty_state: EmptyState) -> None:
        """Show this text instead of rows."""
        self.rows, self.empty_state = (), empty_state
        self.rebuild_lines()

    def watch_on_left(self) -> None:
        self.refresh()
        self.cursor_moved()

    def cursor_moved(self) -> None:
        self.post_message(self.Highlighted())

    def row_line(self, row: int, part: int, width: int) -> Line:
        pair, is_here = self.rows[row], row == self.cursor
        if width < BOTH_FROM:
            return self._side(pair.rank, pair.after, width, here=is_here)
        half = (width - 3) // 2
        left = self._side(pair.rank, pair.before, half, here=is_here and self.on_left)
        right = self._side(pair.rank, pair.after, half, here=is_here and not self.on_left)
        return (*left, Span(" │ ", "rule"), *right)

    def row_opened(self) -> None:
        if (result := self.result) is not None:
            self.post_message(self.Opened(result))

    def action_side(self, left: bool) -> None:
        self.on_left = left

    def _side(self, rank: int, result: ComparedResult | None, width: int, *, here: bool) -> Line:
        """Return one result in exactly `width` cells."""
        if result is None:
            return (Span(" " * width),)
        sign = "◆" if result.path == self.marked else "›" if here else " "
        line = [Span(sign, "accent"), Span(f"{rank:>2} ", "dim")]
        if width >= BARS_FROM // 2 - 2:
            document, entity, _ = stacked_bar(result.document_part, result.entity_part, BAR)
            rest = BAR - len(document) - len(entity) + 1
            line += [
                Span(f"{format_score(result.score):>4} "),
                Span(document, "document"),
                Span(entity, "entity"),
                Span(" " * rest),
            ]
        grade = grade_sign(self._grades, result.path)
        line += [Span(grade, "grade" if grade.strip() else "text"), Span(" ")]
        move = Span(f" {result.move:<{MOVE}}", "bad" if result.move == "lost" else "accent")
        room = max(width - width_of((*line, move)), 0)
        return (*line, Span(fit(result.title, room), "strong"), move)
