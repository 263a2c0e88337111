"""The results of several bases, best first, and the bases themselves."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.formatting import format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, highlight, looks
from kbx_tui.tui.drawing.shared_titles import shared_lengths, title_spans
from kbx_tui.tui.together.view import NAME_WIDTH, BaseRow, OwnedRow
from kbx_tui.tui.widgets.rows_view import RowsView

DATE_WIDTH = 10
DATED = 64
"""The width from which a result shows its date."""
TALL = 16
"""The height from which each result has a second line with its snippet."""


def name_column(names: list[str], width: int) -> int:
    """Return the width of the column of base names, in a list of this width."""
    return min(max(map(cell_len, names), default=0), NAME_WIDTH, max(width // 4, 6))


class OwnedList(RowsView[OwnedRow]):
    """The results of all bases, each with the name of its base."""

    COMPONENT_CLASSES = looks("strong", "entity", "cursor")
    BINDINGS = bindings("together_results")
    LEAVE_ACTION = "screen.focus_query"

    @dataclass
    class Opened(Message):
        """The user opened a result."""

        row: OwnedRow

    def __init__(self) -> None:
        super().__init__()
        self._shared: list[int] = []
        self._name_width = 0

    def show(self, rows: tuple[OwnedRow, ...], *, is_new: bool) -> None:
        """Show results; if they are not of a new query, the cursor stays on its document."""
        current = self.current if self.chosen and not is_new else None
        self.rows, self.chosen = rows, current is not None
        self._shared = shared_lengths([row.title for row in rows])
        self.rebuild_lines()
        keys = [(row.base, row.path) for row in rows]
        key = None if current is None else (current.base, current.path)
        self.cursor = keys.index(key) if key in keys else 0
        self.show_cursor()

    def row_heights(self) -> list[int]:
        return [2 if self.visible_height >= TALL else 1] * len(self.rows)

    def rebuild_lines(self) -> None:
        self._name_width = name_column([row.base for row in self.rows], self.line_width)
        super().rebuild_lines()

    def row_line(self, row: int, part: int, width: int) -> Line:
        result = self.rows[row]
        if part:
            indent = Span(" " * (11 + self._name_width))
            return fit_line((indent, *highlight(result.snippet, result.matches)), width - 1)
        date = f" {fit(result.date, DATE_WIDTH)}" if width >= DATED else ""
        exact = " =" if result.is_known_item else ""
        head = f"{result.rank:>3} "
        score = f"{format_score(result.score):>4} "
        taken = 1 + len(head) + len(score) + self._name_width + 2 + len(exact) + len(date)
        return (
            Span(self.marker(row) + head, "dim"),
            Span(score),
            Span(fit(result.base, self._name_width) + "  ", "entity"),
            *title_spans(result.title, self._shared[row], max(width - taken, 0)),
            Span(exact, "dim"),
            Span(date, "dim"),
        )

    def row_opened(self) -> None:
        self.post_message(self.Opened(self.rows[self.cursor]))


class BaseList(RowsView[BaseRow]):
    """The bases, what each holds, and what each has for the query."""

    COMPONENT_CLASSES = looks("strong", "entity", "cursor")
    BINDINGS = bindings("together_bases")
    LEAVE_ACTION = "screen.focus_query"

    @dataclass
    class Opened(Message):
        """The user opened a base."""

        name: str

    def show(self, rows: tuple[BaseRow, ...]) -> None:
        """Show the bases."""
        self.rows = rows
        self.rebuild_lines()

    def row_line(self, row: int, part: int, width: int) -> Line:
        base = self.rows[row]
        names = name_column([each.name for each in self.rows], width)
        name = Span(fit(base.name, names), "entity")
        room = max(width - names - 4, 0)
        found = shorten(base.found, max(room // 2, 0))
        holds = shorten(base.holds, max(room - cell_len(found) - 2, 0))
        gap = " " * max(room - cell_len(holds) - cell_len(found), 0)
        return (
            Span(self.marker(row) + " ", "dim"),
            name,
            Span(f"  {holds}"),
            Span(gap + found, "dim"),
        )

    def row_opened(self) -> None:
        self.post_message(self.Opened(self.rows[self.cursor].name))
