"""The answer to why not: sentences, the actions to choose from, and what the chosen one does."""

from __future__ import annotations

from rich.cells import cell_len

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, paragraph
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.why_not.view import ActionRow, AnswerView
from kbx_tui.tui.widgets.box_list import BoxList

RANK = 6
"""Cells of `to 12`, right-aligned."""
MOST_TEXT = 40
"""Cells of the longest text of an action."""


class AnswerList(BoxList[ActionRow]):
    """The actions, with sentences above and below them."""

    answer: AnswerView | None = None

    def show_answer(self, answer: AnswerView) -> None:
        """Show an answer, with the cursor on the first action."""
        self.answer = answer
        self.show(answer.actions)

    def line_of_row(self, row: int, width: int) -> Line:
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

    def lines_above(self, width: int) -> list[Line]:
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

    def lines_below(self, width: int) -> list[Line]:
        detail = self.current.detail if self.current is not None else ""
        return [BLANK, *paragraph(detail, width)] if detail else []
