"""The list of the facets: types, tags and people with counts, and the strip of dates."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message

from kbx_tui.search.query.typed_filters import Key
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks
from kbx_tui.tui.facets.date_span import DateStrip
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

TITLES: dict[Key, str] = {"type": "Types", "tag": "Tags", "@": "People"}
LABEL = 32
"""Cells of the longest label."""
BAR = 24
"""Cells of the longest bar."""
STRIP = 3
"""Cells before the strip of dates."""


@dataclass(frozen=True, slots=True)
class FacetRow:
    """A value to narrow to; one with an empty key is the strip of dates."""

    key: Key | None
    value: str
    label: str
    count: int
    is_on: bool = False
    """Whether the query is narrowed to it."""


class FacetList(RowsView[FacetRow]):
    """One line per value below the title of its kind; the last row is the strip of dates."""

    BINDINGS = [*bindings("facets"), *bindings("list")]  # noqa: RUF012  # as in Textual
    COMPONENT_CLASSES = looks("strong", "accent", "cursor", "document")

    strip = DateStrip()
    total = 0

    @dataclass
    class Taken(Message):
        """The user chose a value, to narrow to it or to take that back."""

        row: FacetRow

    @dataclass
    class SpanTaken(Message):
        """The user chose a span of dates."""

        first: str
        last: str

    def __init__(self) -> None:
        super().__init__()
        self._dragged_from: int | None = None

    def show(self, rows: tuple[FacetRow, ...], strip: DateStrip, total: int) -> None:
        """Show these values of `total` results, with the cursor where it was."""
        before = self.current
        has_strip = (FacetRow(None, "", "", 0),) if strip.times else ()
        self.rows, self.strip, self.total = (*rows, *has_strip), strip, total
        same = [
            number
            for number, row in enumerate(self.rows)
            if before is not None and (row.key, row.value) == (before.key, before.value)
        ]
        self.set_reactive(RowsView.cursor, same[0] if same else 0)
        self.rebuild_lines()
        self.show_cursor()

    def slots(self) -> list[Slot]:
        slots: list[Slot] = []
        for number, row in enumerate(self.rows):
            if number == 0 or row.key != self.rows[number - 1].key:
                slots += [(-1, 0)] * bool(slots)
                slots.append((-1, number + 1))
            slots.append((number, 0))
            if row.key is None:
                slots.append((number, 1))
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return (Span(f"  {self._title(part - 1)}", "dim"),) if part else BLANK
        each = self.rows[row]
        if each.key is None:
            return self._strip_line(part, is_here=row == self.cursor)
        widest = max(cell_len(other.label) for other in self.rows)
        label = max(min(widest, LABEL, width - 16), 8)
        bar = round(each.count / max(self.total, 1) * min(BAR, max(width - label - 16, 0)))
        return (
            Span(" › " if row == self.cursor else "   ", "accent"),
            Span(fit(shorten(each.label, label), label), "strong"),
            Span(f"{each.count:>7,} "),
            Span("█" * bar, "document"),
            Span(" narrowed to" if each.is_on else "", "accent"),
        )

    def _title(self, number: int) -> str:
        key = self.rows[number].key
        return "Dates" if key is None else TITLES[key]

    def _strip_line(self, part: int, *, is_here: bool) -> Line:
        strip, marker = self.strip, Span(" › " if is_here else "   ", "accent")
        if part:
            first, last = strip.times[0][0], strip.times[-1][0]
            hint = strip.words or f"{first} to {last}; left and right select a span"
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
        if row is not None and row.key is not None:
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
        if row < 0 or part or self.rows[row].key is not None:
            return None
        return (int(offset.x) - STRIP) // self.strip.cells

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
