"""The list of the recall box."""

from __future__ import annotations

from rich.cells import cell_len

from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, paragraph
from kbx_tui.tui.recall.recall_rows import RecallRow
from kbx_tui.tui.widgets.box_list import BoxList

FOUND, WHEN = 10, 10
"""Cells of the number of results, or a date, and of the time."""
NAME = 24
"""Cells of the longest name."""
WHEN_FROM = 60
"""The width from which the time is shown."""


class RecallList(BoxList[RecallRow]):
    """One line per row, and below them the details of the row under the cursor."""

    def lines_below(self, width: int) -> list[Line]:
        detail = self.current.detail if self.current is not None else ""
        return [BLANK, *paragraph(detail, width, "dim")] if detail else []

    def line_of_row(self, row: int, width: int) -> Line:
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
