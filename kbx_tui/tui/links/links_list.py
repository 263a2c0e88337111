"""The list of the links box: groups of links with their places and lines."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, highlight, looks
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.links.link_rows import LinkRow, group_title
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

INDENT = 5


class LinksList(RowsView[LinkRow]):
    """One or two lines per row below the title of its group."""

    BINDINGS = [*bindings("links"), *bindings("list")]  # noqa: RUF012  # as in Textual
    COMPONENT_CLASSES = looks("strong", "accent", "cursor", "bad")

    @dataclass
    class Opened(Message):
        """The user chose a row."""

        row: LinkRow

    @dataclass
    class Moved(Message):
        """The cursor is on another row."""

    def show(self, rows: tuple[LinkRow, ...]) -> None:
        """Show these rows, with the cursor where it was."""
        cursor, self.rows = self.cursor, rows
        self.set_reactive(RowsView.cursor, max(min(cursor, len(rows) - 1), 0))
        self.rebuild_lines()
        self.show_cursor()

    def slots(self) -> list[Slot]:
        slots: list[Slot] = []
        for number, row in enumerate(self.rows):
            if number == 0 or row.kind != self.rows[number - 1].kind:
                slots += [(-1, 0)] * bool(slots)
                slots.append((-1, number + 1))
            slots += [(number, part) for part in range(1 + bool(row.text))]
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            title = group_title(self.rows, self.rows[part - 1].kind) if part else ""
            return (Span(f"  {title}", "dim"),) if part else BLANK
        each = self.rows[row]
        if part:
            return (Span(" " * INDENT), *self._text(each, width - INDENT - 1))
        room = max(width - 4 - min(cell_len(each.place), width // 2), 8)
        title = fit(shorten(each.title, room), room)
        place = shorten_start(each.place, width - room - 4)
        return (
            Span(" › " if row == self.cursor else "   ", "accent"),
            Span(title, "bad" if each.kind == "broken" else "strong"),
            Span(f" {place}", "dim"),
        )

    def _text(self, row: LinkRow, width: int) -> Line:
        text, name = row.text, row.mention.name if row.mention is not None else ""
        start = text.find(name) if name else -1
        if start + len(name) > width - 2:  # begin shortly before the name
            text = "… " + text[text.find(" ", max(start - width // 2, 0), start) + 1 :]
            start = text.find(name)
        text = shorten(text, max(width, 1))
        return highlight(text, [(start, start + len(name))] if start >= 0 else [], "text")

    def cursor_moved(self) -> None:
        self.rebuild_lines()
        self.post_message(self.Moved())

    def row_opened(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened(self.current))
