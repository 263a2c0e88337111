"""The list of a box whose field keeps the focus, with lines above and below its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.drawing.lines import Line, looks
from kbx_tui.tui.widgets.rows_view import RowsView, RowT, Slot


class BoxList(RowsView[RowT], can_focus=False):
    """One line per row; keys reach it through the screen, because a field has the focus."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")

    @dataclass
    class Opened(Message):
        """The user chose a row with the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._around: list[Line] = []
        """The lines above the rows, then those below them."""

    def show(self, rows: Iterable[RowT]) -> None:
        """Show these rows, with the cursor on the first."""
        self.rows = tuple(rows)
        self.set_reactive(RowsView.cursor, 0)
        self.rebuild_lines()
        self.scroll_to_line(0)

    def lines_above(self, width: int) -> list[Line]:
        """Return the lines above the rows."""
        return []

    def lines_below(self, width: int) -> list[Line]:
        """Return the lines below the rows: details of the row under the cursor."""
        return []

    def line_of_row(self, row: int, width: int) -> Line:
        """Return the line of a row."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        self.rebuild_lines()

    def row_opened(self) -> None:
        self.post_message(self.Opened())

    def slots(self) -> list[Slot]:
        above, below = self.lines_above(self.line_width), self.lines_below(self.line_width)
        self._around, first = [*above, *below], len(above)
        return [
            *((-1, part) for part in range(first)),
            *super().slots(),
            *((-1, first + part) for part in range(len(below))),
        ]

    def row_line(self, row: int, part: int, width: int) -> Line:
        return self._around[part] if row < 0 else self.line_of_row(row, width)
