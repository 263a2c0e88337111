"""A few things to choose from, each with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import shorten, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, fit_line, looks
from kbx_tui.tui.widgets.rows_view import RowsView, Slot


@dataclass(frozen=True, slots=True)
class Choice:
    """One of them."""

    id: str
    title: str
    about: str


class Choices(RowsView):
    """What it is about on top, then the choices."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")
    BINDINGS = bindings("welcome")

    @dataclass
    class Taken(Message):
        """A person chose."""

        choice: Choice

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        self.choices = tuple(choices)
        self.about: tuple[str, ...] = ()
        """Paragraphs above the choices."""
        self._head: list[Line] = []

    def count_rows(self) -> int:
        return len(self.choices)

    def slots(self) -> list[Slot]:
        self._head = [BLANK]
        for paragraph in filter(None, self.about):
            lines = wrap(paragraph, max(self.line_width - 4, 10))
            self._head += [*((Span(f"  {line}"),) for line in lines), BLANK]
        head = [(-1, part) for part in range(len(self._head))]
        rows = [(row, part) for row in range(len(self.choices)) for part in range(3)]
        return [*head, *rows]

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return self._head[part]
        choice = self.choices[row]
        marker = "›" if row == self.cursor else " "
        if part == 0:
            line: Line = (Span(f" {marker} ", "accent"), Span(choice.title, "strong"))
            return fit_line(line, width)
        return (Span("   "), Span(shorten(choice.about, width - 4), "dim")) if part == 1 else BLANK

    def is_cursor_line(self, y: int) -> bool:
        return super().is_cursor_line(y) and self._slots[y][1] < 2

    def opened(self) -> None:
        self.post_message(self.Taken(self.choices[self.cursor]))
