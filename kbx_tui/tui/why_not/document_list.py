"""The documents that match what is typed."""

from __future__ import annotations

from rich.cells import cell_len

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.why_not.view import DocumentRow
from kbx_tui.tui.widgets.box_list import BoxList

PATH_FROM = 70
"""The width from which the path is shown beside the title."""
DATE = 10
RANK = 5


class DocumentList(BoxList[DocumentRow]):
    """One line per document: title, path or type, date, and its rank if it is a result."""

    def line_of_row(self, row: int, width: int) -> Line:
        document = self.rows[row]
        is_here = row == self.cursor
        rank = f"#{document.rank}" if document.rank is not None else ""
        room = max(width - DATE - RANK - 5, 1)
        title = shorten(document.title, room)
        beside = ""
        if width >= PATH_FROM:
            title = shorten(document.title, room // 2)
            beside = shorten_start(safe_line(document.path), max(room - cell_len(title) - 2, 1))
        return (
            Span(" › " if is_here else "   ", "accent"),
            Span(title, "strong"),
            Span("  " + beside if beside else "", "dim"),
            Span(" " * max(room - cell_len(title) - (cell_len(beside) + 2 if beside else 0), 0)),
            Span(f"{rank:>{RANK}} ", "accent"),
            Span(fit(document.date, DATE), "dim"),
        )
