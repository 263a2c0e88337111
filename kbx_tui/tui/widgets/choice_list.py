"""A list of titled choices, each with a one-line description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, fit_line, looks, paragraph
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

LINES_PER_CHOICE = 3
"""Title, description and a blank line."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of the list."""

    id: str
    title: str
    description: str


class ChoiceList(RowsView[Choice]):
    """Introductory paragraphs, then the choices."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")
    BINDINGS = bindings("welcome")

    @dataclass
    class Chosen(Message):
        """The user opened a choice."""

        choice: Choice

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        self.rows = tuple(choices)
        self.intro: tuple[str, ...] = ()
        """Paragraphs above the choices."""
        self._intro_lines: list[Line] = []

    def row_heights(self) -> list[int]:
        return [LINES_PER_CHOICE] * len(self.rows)

    def slots(self) -> list[Slot]:
        self._intro_lines = [BLANK]
        for text in filter(None, self.intro):
            self._intro_lines += [*paragraph(text, self.line_width - 1), BLANK]
        return [*((-1, part) for part in range(len(self._intro_lines))), *super().slots()]

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return self._intro_lines[part]
        choice = self.rows[row]
        if part == 0:
            marker = " › " if row == self.cursor else "   "
            return fit_line((Span(marker, "accent"), Span(choice.title, "strong")), width)
        if part == 1:
            return (Span("   "), Span(shorten(choice.description, width - 4), "dim"))
        return BLANK

    def is_cursor_line(self, y: int) -> bool:
        return super().is_cursor_line(y) and self.slot_at(y)[1] < LINES_PER_CHOICE - 1

    def row_opened(self) -> None:
        self.post_message(self.Chosen(self.rows[self.cursor]))
