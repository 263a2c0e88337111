"""The list of the facets: types, tags, people and folders with counts, and the strip of dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks
from kbx_tui.tui.facets.date_span import DateStrip
from kbx_tui.tui.facets.facet_rows import FacetRow, Kind
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

TITLES: dict[Kind, str] = {
    "type": "Types",
    "tag": "Tags",
    "@": "People",
    "in": "Folders",
    "linked": "Most linked",
    "dates": "Dates",
}
LABEL = 32
"""Cells of the longest label."""
BAR = 24
"""Cells of the longest bar."""
WIDE = 60
"""Cells of a list from which words say what its colour says."""
STRIP = 3
"""Cells before the strip of dates."""
EDGES = 6
"""Cells beside the strip of dates."""


class FacetList(RowsView[FacetRow]):
    """One line per value below the title of its kind; the last row is the strip of dates."""

    BINDINGS = bindings("facets", "list")
    COMPONENT_CLASSES = looks("strong", "accent", "cursor", "document")

    strip = DateStrip()
    total = 0

    @dataclass
    class Taken(Message):
        """The user chose a value, to narrow to it or to take that back, or a document."""

        row: FacetRow

    @dataclass
    class SpanTaken(Message):
        """The user chose a span of dates."""

        first: str
        last: str

    def __init__(self) -> None:
        super().__init__()
        self._dragged_from: int | None = None

    def show(
        self, rows: tuple[FacetRow, ...], months: Sequence[tuple[str, int]], total: int
    ) -> None:
        """Show these values of `total` results, with the cursor where it was."""
        before = self.current
        self.strip = DateStrip.of(months, max(self.line_width - EDGES, 1))
        dates = (FacetRow("dates", "", "", 0),) if self.strip.times else ()
        self.rows, self.total = (*rows, *dates), total
        same = [
            number
            for number, row in enumerate(self.rows)
            if before is not None and (row.kind, row.value) == (before.kind, before.value)
        ]
        self.set_reactive(RowsView.cursor, same[0] if same else 0)
        self.rebuild_lines()
        self.show_cursor()

    def slots(self) -> list[Slot]:
        slots: list[Slot] = []
        for number, row in enumerate(self.rows):
            if number == 0 or row.kind != self.rows[number - 1].kind:
                slots += [(-1, 0)] * bool(slots)
                slots.append((-1, number + 1))
            slots.append((number, 0))
            if row.kind == "dates":
                slots.append((number, 1))
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return (Span(f"  {self._title(part - 1)}", "dim"),) if part else BLANK
        each = self.rows[row]
        if each.kind == "dates":
            return self._strip_line(part, width, is_here=row == self.cursor)
        widest = max(cell_len(other.label) for other in self.rows)
        label = max(min(widest, LABEL, width - 11), 8)
        bar = round(each.count / max(self.total, 1) * min(BAR, max(width - label - 16, 0)))
        return (
            Span(f" {self.marker(row)} ", "accent"),
            Span(fit(shorten(each.label, label), label), "accent" if each.is_on else "strong"),
            Span(f"{each.count:>7,} "),
            Span("" if each.kind == "linked" else "█" * bar, "document"),
            Span(" narrowed to" if each.is_on and width > WIDE else "", "accent"),
        )

    def _title(self, number: int) -> str:
        return TITLES[self.rows[number].kind]

    def _strip_line(self, part: int, width: int, *, is_here: bool) -> Line:
        strip, marker = self.strip, Span(" › " if is_here else "   ", "accent")
        if part:
            first, last = strip.times[0][0], strip.times[-1][0]
            hint = strip.words or f"{first} to {last}; left and right select a span"
            if len(hint) > width - STRIP and not strip.words:
                hint = f"{first} to {last}  ← →"
            return (Span("   "), Span(hint, "accent" if strip.span else "dim"))
        bars = strip.bars
        if strip.start is None:
            return (marker, Span(bars, "document"))
        start, end = strip.start * strip.cells, (strip.end + 1) * strip.cells
        return (
            marker,
            Span(bars[:start], "dim"),
            Span("["),
            Span(bars[start:end], "document"),
            Span("]"),
            Span(bars[end:], "dim"),
        )

    # What the user does.

    def row_opened(self) -> None:
        row = self.current
        if row is not None and row.kind != "dates":
            self.post_message(self.Taken(row))
        elif self.strip.span is not None:
            self.post_message(self.SpanTaken(*self.strip.span))

    def action_span(self, steps: int) -> None:
        self._select(self.strip.moved(steps))

    def action_extend(self, steps: int) -> None:
        self._select(self.strip.extended(steps))

    def _select(self, strip: DateStrip) -> None:
        self.strip = strip
        if strip.times:
            self.choose(len(self.rows) - 1)
            self.rebuild_lines()

    def _time_at(self, event: events.MouseEvent) -> int | None:
        """Return which time of the strip the mouse is at."""
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        row, part = self.slot_at(offset.y + self.scroll_offset.y)
        if row < 0 or part or self.rows[row].kind != "dates":
            return None
        return (int(offset.x) - STRIP) // self.strip.cells

    def on_click(self, event: events.Click) -> None:
        """Narrow at one click; documents open at two, as in every list."""
        offset = event.get_content_offset(self)
        row = -1 if offset is None else self.slot_at(offset.y + self.scroll_offset.y)[0]
        if row < 0:
            return
        self.choose(row)
        kind = self.rows[row].kind
        if kind != "dates" and event.chain == (2 if kind == "linked" else 1):
            self.action_open()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragged_from = self._time_at(event)
        if self._dragged_from is not None:
            self._select(self.strip.between(self._dragged_from, self._dragged_from))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        start, end = self._dragged_from, self._time_at(event)
        self._dragged_from = None
        if start is not None and end is not None:
            self._select(self.strip.between(start, end))
            self.row_opened()
