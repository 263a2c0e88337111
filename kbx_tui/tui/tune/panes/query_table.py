"""The judged queries: their grades, and nDCG@10 under A and with the current settings."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.formatting import format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import Line, Look, Span, fit_line, looks
from kbx_tui.tui.tune.view import QueryRow
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

COUNTS_FROM = 50
"""The width from which the number of grades is shown."""
GRADES: tuple[int | None, ...] = (3, 2, 1, 0, None)
FIGURES = 11
"""Cells of `.63 → .81`, with room for 1.00."""


class QueryTable(RowsView[QueryRow]):
    """One row per judged query below a line of column titles."""

    COMPONENT_CLASSES = looks("strong", "accent", "bad", "rule", "cursor")
    BINDINGS = bindings("judged_queries")

    @dataclass
    class Highlighted(Message):
        """The cursor is on another query."""

        query: str

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, QueryTable.Highlighted)

    @dataclass
    class Opened(Message):
        """The user opened a query."""

        query: str

    def show(self, rows: tuple[QueryRow, ...]) -> None:
        """Show these rows, with the cursor on the same query."""
        before = self.current.query if self.current is not None else ""
        self.rows = rows
        self.rebuild_lines()
        queries = [row.query for row in rows]
        place = queries.index(before) if before in queries else self.cursor
        self.cursor = place
        if rows and rows[self.cursor].query != before:
            self.cursor_moved()

    def slots(self) -> list[Slot]:
        rows = super().slots()
        return [(-1, 0), *rows] if rows else rows

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return title_line(width)
        return query_line(self.rows[row], width, self.marker(row))

    def cursor_moved(self) -> None:
        if self.current is not None:
            self.post_message(self.Highlighted(self.current.query))

    def row_opened(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened(self.current.query))


def title_line(width: int) -> Line:
    """Return the titles of the columns: grades, A and now."""
    grades = "".join(f"{'?' if grade is None else grade:>3}" for grade in GRADES)
    right = f"{grades if width >= COUNTS_FROM else ''}  {'A → now':>{FIGURES}}"
    return fit_line((Span(f"{'   query':<{max(width - len(right), 0)}}{right}", "dim"),), width)


def query_line(row: QueryRow, width: int, marker: str) -> Line:
    """Return `›▲ what did alice decide   2  1  0  4  0    .63 → .81`."""
    sign: Look = "bad" if row.sign == "▼" else "accent"
    if row.start is None or row.now is None:
        figures = Span(f"{'–':>{FIGURES}}", "dim")
    else:
        now = f"{format_score(row.start):>4} → {format_score(row.now):>4}"
        figures = Span(f"{now:>{FIGURES}}", "text" if row.sign == " " else "strong")
    counts = [(grade, row.counts.get(grade, 0)) for grade in GRADES]
    shown = [
        Span(f"{count or '·':>3}", "text" if count else "rule")
        for _, count in (counts if width >= COUNTS_FROM else ())
    ]
    room = width - 3 - 3 * len(shown) - 2 - FIGURES
    return (
        Span(marker, "dim"),
        Span(row.sign, sign),
        Span(" "),
        Span(fit(row.text, max(room, 0))),
        *shown,
        Span("  "),
        figures,
    )
