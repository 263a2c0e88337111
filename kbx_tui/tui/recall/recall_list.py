"""The list of the recall box."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks, paragraph
from kbx_tui.tui.recall.recall_rows import RecallRow
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

FOUND, WHEN = 10, 10
"""Cells of the number of results, or a date, and of the time."""
NAME = 24
"""Cells of the longest name."""
WHEN_FROM = 60
"""The width from which the time is shown."""


class RecallList(RowsView[RecallRow], can_focus=False):
    """One line per row, and below them the details of the row under the cursor."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")

    @dataclass
    class Opened(Message):
        """The user chose a row with the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._below: list[Line] = []

    def show(self, rows: list[RecallRow]) -> None:
        """Show these rows, with the cursor on the first."""
        self.rows = tuple(rows)
        self.set_reactive(RowsView.cursor, 0)
        self.rebuild_lines()
        self.scroll_to_line(0)

    def cursor_moved(self) -> None:
        self.rebuild_lines()

    def row_opened(self) -> None:
        self.post_message(self.Opened())

    def slots(self) -> list[Slot]:
        detail = self.current.detail if self.current is not None else ""
        self._below = [BLANK, *paragraph(detail, self.line_width, "dim")] if detail else []
        return [*super().slots(), *((-1, part) for part in range(len(self._below)))]

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return self._below[part]
        each = self.rows[row]
        name = fit(f"{shorten(each.name, NAME)} ", self._name_width()) if each.name else ""
        when = f"{each.when:>{WHEN}}" if width >= WHEN_FROM else ""
        room = max(width - 4 - cell_len(name) - FOUND - len(when), 1)
        return (
            Span(" › " if row == self.cursor else "   ", "accent"),
            Span(name, "accent"),
            Span(fit(shorten(each.text, room), room), "strong"),
            Span(f"{each.found:>{FOUND}}"),
            Span(when, "dim"),
        )

    def _name_width(self) -> int:
        return min(max(cell_len(row.name) for row in self.rows), NAME) + 2
