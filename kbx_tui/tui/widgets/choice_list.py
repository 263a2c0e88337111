"""A list of titled choices, each with a one-line description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Span,
    fit_line,
    fit_to_height,
    looks,
    paragraph,
)
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

LINES_PER_CHOICE = 3
"""Title, description and a blank line."""
INTRO, OUTRO = -1, -2
"""Stand for rows, of paragraphs above and below the choices."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of the list."""

    id: str
    title: str
    description: str


class ChoiceList(RowsView[Choice]):
    """Introductory paragraphs, then the choices, then what can be read after them."""

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
        """Paragraphs above the choices; without blank lines where these would not fit below."""
        self.outro: tuple[str, ...] = ()
        """Paragraphs below the choices."""
        self._paragraphs: dict[int, list[Line]] = {}

    def row_heights(self) -> list[int]:
        return [LINES_PER_CHOICE] * len(self.rows)

    def slots(self) -> list[Slot]:
        choices = super().slots()
        room = max(self.visible_height - len(choices) + 1, 1)
        intro, outro = self._lines_of(self.intro), self._lines_of(self.outro)
        self._paragraphs = {INTRO: fit_to_height(intro, room), OUTRO: outro}
        above, below = (
            [(row, part) for part in range(len(lines))] for row, lines in self._paragraphs.items()
        )
        return [*above, *choices, *below]

    def _lines_of(self, texts: Sequence[str]) -> list[Line]:
        """Return the lines of paragraphs, each with a blank line after it."""
        return [
            line
            for text in filter(None, texts)
            for line in (*paragraph(text, self.line_width - 1), BLANK)
        ]

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return self._paragraphs[row][part]
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
