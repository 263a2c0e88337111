"""The drafts, each with its state and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.dedup.view import DraftRow
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Look, Span, fit_line, looks, width_of
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

STATE_LOOKS: dict[str, Look] = {
    "new": "entity",
    "exact": "dim",
    "near": "document",
    "conflict": "bad",
    "repeated": "dim",
}
OUTCOME = 23
"""Cells for state and action: `conflict → supersede ✓`."""


class DraftList(RowsView):
    """Drafts in the order they came, two lines each."""

    COMPONENT_CLASSES = looks("strong", "accent", "entity", "document", "bad", "cursor")
    BINDINGS = bindings("drafts")

    @dataclass
    class Highlighted(Message):
        """Another draft came under the cursor, or the same one changed."""

        draft_id: str

    @dataclass
    class Opened(Message):
        """A person wants to change the text of a draft."""

        draft_id: str

    class Left(Message):
        """The up arrow was pressed on the first draft."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[DraftRow, ...] = ()

    def show(self, rows: tuple[DraftRow, ...]) -> None:
        """Show these drafts; the cursor stays on its draft, or near where that was."""
        at = self.current.id if self.current is not None else ""
        self.rows = rows
        ids = [row.id for row in rows]
        self.lines_changed()
        self.cursor = ids.index(at) if at in ids else self.validate_cursor(self.cursor)
        self.highlighted()

    @property
    def current(self) -> DraftRow | None:
        """The draft under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def count_rows(self) -> int:
        return len(self.rows)

    def slots(self) -> list[Slot]:
        return [(row, part) for row in range(len(self.rows)) for part in (0, 1)]

    def row_line(self, row: int, part: int, width: int) -> Line:
        draft = self.rows[row]
        if part:
            return outcome_line(draft, width)
        return draft_line(draft, width, "›" if row == self.cursor and self.has_focus else " ")

    def highlighted(self) -> None:
        if self.current is not None:
            self.post_message(self.Highlighted(self.current.id))

    def opened(self) -> None:
        self.post_message(self.Opened(self.rows[self.cursor].id))

    def left(self) -> None:
        self.post_message(self.Left())


def draft_line(draft: DraftRow, width: int, marker: str = " ") -> Line:
    """Return `› ≈ Alice favours async Slack`, exactly `width` cells."""
    text = Span(fit(draft.text, max(width - 3, 0)), "text" if draft.action == "skip" else "strong")
    return (Span(marker, "dim"), Span(f"{draft.sign} ", look_of(draft)), text)


def outcome_line(draft: DraftRow, width: int) -> Line:
    """Return `near → merge?  Alice Chen · fact`; `?` where a person has to decide."""
    outcome: Line = (Span(draft.state, look_of(draft)),)
    if draft.is_decided:
        outcome += (Span(" → ", "dim"), Span(f"{draft.action} ✓", "accent"))
    elif draft.action:
        outcome += (Span(f" → {draft.action}{'' if draft.is_sure else '?'}", "dim"),)
    blank = " " * max(OUTCOME - width_of(outcome), 2)
    room = max(width - 3 - width_of(outcome) - len(blank), 0)
    return fit_line(
        (Span("   "), *outcome, Span(blank), Span(shorten(draft.about, room), "dim")), width
    )


def look_of(draft: DraftRow) -> Look:
    """Return how the state of a draft looks."""
    return STATE_LOOKS.get(draft.state, "dim")
