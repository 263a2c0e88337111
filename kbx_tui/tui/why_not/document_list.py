"""The documents that match what is typed."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span, looks
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.why_not.view import DocumentRow
from kbx_tui.tui.widgets.rows_view import RowsView

PATH_FROM = 70
"""The width from which the path is shown beside the title."""
DATE = 10
RANK = 5


class DocumentList(RowsView[DocumentRow], can_focus=False):
    """One line per document: title, path or type, date, and its rank if it is a result."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")

    @dataclass
    class Opened(Message):
        """The user chose a document with the mouse."""

    def show(self, documents: tuple[DocumentRow, ...]) -> None:
        """Show these documents, with the cursor on the first."""
        self.rows = documents
        self.set_reactive(RowsView.cursor, 0)
        self.rebuild_lines()
        self.scroll_to_line(0)

    def row_opened(self) -> None:
        self.post_message(self.Opened())

    def row_line(self, row: int, part: int, width: int) -> Line:
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
