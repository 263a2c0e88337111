"""The answer to why not: sentences, the actions to choose from, and what the chosen one does."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks, paragraph
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.why_not.view import ActionRow, AnswerView
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

RANK = 6
"""Cells of `to 12`, right-aligned."""
MOST_TEXT = 40
"""Cells of the longest text of an action."""


class AnswerList(RowsView[ActionRow], can_focus=False):
    """The actions, with sentences above and below them."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")

    answer: AnswerView | None = None

    @dataclass
    class Opened(Message):
        """The user chose an action with the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._between: list[Line] = []
        """The lines above the rows, then those below them."""

    def show(self, answer: AnswerView) -> None:
        """Show an answer, with the cursor on the first action."""
        self.answer, self.rows = answer, answer.actions
        self.set_reactive(RowsView.cursor, 0)
        self.rebuild_lines()
        self.scroll_to_line(0)

    def cursor_moved(self) -> None:
        self.rebuild_lines()

    def row_opened(self) -> None:
        self.post_message(self.Opened())

    def slots(self) -> list[Slot]:
        above, below = self._above(self.line_width), self._below(self.line_width)
        self._between = [*above, *below]
        first = len(above)
        return [
            *((-1, part) for part in range(first)),
            *super().slots(),
            *((-1, first + part) for part in range(len(below))),
        ]

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return self._between[part]
        action = self.rows[row]
        marker = Span(" › " if row == self.cursor else "   ", "accent")
        if action.kind != "apply":
            return (marker, Span(shorten(action.text, max(width - 4, 1)), "dim"))
        widest = max(cell_len(each.text) for each in self.rows if each.kind == "apply")
        text = min(widest, MOST_TEXT, max(width - RANK - 6, 8))
        effect, room = action.effect, max(width - text - RANK - 6, 0)
        if cell_len(effect) > room:
            effect = effect.partition(",")[0]
        return (
            marker,
            Span(fit(action.text, text), "strong"),
            Span(f"{f'to {action.rank}':>{RANK}}"),
            Span("  " + shorten(effect, room), "dim"),
        )

    def _above(self, width: int) -> list[Line]:
        answer = self.answer
        if answer is None:
            return []
        path = shorten_start(safe_line(answer.path), max(width - 3, 1))
        return [
            *paragraph(answer.title, width, "strong"),
            (Span(f"  {path}", "dim"),),
            *paragraph(answer.standing, width),
            *(paragraph(answer.reason, width) if answer.reason else []),
            BLANK,
            *(paragraph(answer.heading, width, "dim") if answer.heading else []),
        ]

    def _below(self, width: int) -> list[Line]:
        detail = self.current.detail if self.current is not None else ""
        return [BLANK, *paragraph(detail, width)] if detail else []
