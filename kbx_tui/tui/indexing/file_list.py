"""The files that need attention: problems, stale files, documents without vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.indexing.file_rows import FileGroup, FileRow, Kind
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

SIGNS: dict[Kind, tuple[str, Look]] = {
    "problem": ("!", "bad"),
    "stale": ("~", "accent"),
    "over-retrieved": ("+", "accent"),
    "muted": ("–", "dim"),
    "unembedded": ("○", "dim"),
    "template": ("–", "dim"),
}


AROUND = 5
"""Cells of a row beside its place and its text."""


class FileList(RowsView[FileRow]):
    """Groups of files, each below a title."""

    COMPONENT_CLASSES = looks("strong", "accent", "bad", "cursor")
    BINDINGS = bindings("files")

    @dataclass
    class Opened(Message):
        """The user wants to mend this file."""

        row: FileRow

    def __init__(self) -> None:
        super().__init__()
        self._groups: tuple[FileGroup, ...] = ()
        self._titles: list[Line] = []

    def show(self, groups: Sequence[FileGroup]) -> None:
        """Show these groups; the cursor stays on its file."""
        current = self.current if self.chosen else None
        self._groups = tuple(groups)
        self.rows = tuple(row for group in groups for row in group.rows)
        self.rebuild_lines()
        places = [
            place
            for place, row in enumerate(self.rows)
            if current and (row.kind, row.path) == (current.kind, current.path)
        ]
        self.cursor = places[0] if places else min(self.cursor, max(len(self.rows) - 1, 0))
        self.show_cursor()

    def row_opened(self) -> None:
        if (row := self.current) is not None:
            self.post_message(self.Opened(row))

    def slots(self) -> list[Slot]:
        self._titles, slots, first = [], list[Slot](), 0
        heights = self.row_heights()
        for group in self._groups:
            if slots:
                self._titles.append(BLANK)
                slots.append((-1, len(self._titles) - 1))
            title, advice = Span(f" {group.title}", "strong"), Span(f"  {group.advice}", "dim")
            self._titles.append((title, advice))
            slots.append((-1, len(self._titles) - 1))
            for row in range(first, first + len(group.rows)):
                slots += [(row, part) for part in range(heights[row])]
            first += len(group.rows)
        return slots

    def row_heights(self) -> list[int]:
        heights = [1] * len(self.rows)
        if self.rows:
            heights[self.cursor] += len(self._rest(self.cursor))
        return heights

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # the text of the row under the cursor is shown in full

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return fit_line(self._titles[part], width)
        if part:
            return (Span(f"     {self._rest(row)[part - 1]}", "dim"),)
        content, place_width = self.rows[row], self._place_width(width)
        text = "" if self._rest(row) else content.text
        return file_line(content, text, width, self.marker(row), place_width)

    def _rest(self, row: int) -> list[str]:
        """Return further lines of a row: the text under the cursor, where it does not fit."""
        text, width = self.rows[row].text if row == self.cursor else "", self.line_width
        is_cut = cell_len(text) > width - self._place_width(width) - AROUND
        return wrap(text, max(width - 6, 10)) if is_cut else []

    def _place_width(self, width: int) -> int:
        longest = max((cell_len(row.place) for row in self.rows), default=0)
        return min(longest, max((width - AROUND) // 2, 8))


def file_line(row: FileRow, text: str, width: int, marker: str, place_width: int) -> Line:
    """Return `› ! memory/people/ida.md:12  the date cannot be read`."""
    sign, look = SIGNS[row.kind]
    place = shorten_start(row.place, place_width)
    text = shorten(text, max(width - place_width - AROUND, 1))
    return fit_line(
        (
            Span(marker, "dim"),
            Span(f"{sign} ", look),
            Span(fit(place, place_width)),
            Span(f"  {text}", "dim"),
        ),
        width,
    )
