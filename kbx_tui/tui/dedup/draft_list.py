"""The list of drafts, each with its state and action."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.dedup.view import DraftRow
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks, paragraph, width_of
from kbx_tui.tui.widgets.lines_view import EmptyState, titled_text
from kbx_tui.tui.widgets.rows_view import RowsView

STATE_LOOKS: dict[str, Look] = {"new": "entity", "near": "document", "conflict": "bad"}
"""The styles of states; all others are dim."""
OUTCOME_WIDTH = 23
"""The width of state and action: `conflict → supersede ✓`."""


class DraftList(RowsView[DraftRow]):
    """The drafts in the order they were added, two lines each."""

    COMPONENT_CLASSES = looks("strong", "accent", "entity", "document", "bad", "cursor")
    BINDINGS = bindings("drafts")
    LEAVE_ACTION = "screen.focus_line"

    @dataclass
    class Highlighted(Message):
        """The cursor is on another draft, or its draft has changed."""

        draft_id: str

    @dataclass
    class Opened(Message):
        """The user opened a draft to change its text."""

        draft_id: str

    def show(self, rows: tuple[DraftRow, ...]) -> None:
        """Show these drafts; the cursor stays on its draft, or on its row if that is gone."""
        current_id = self.current.id if self.current is not None else ""
        self.rows = rows
        ids = [row.id for row in rows]
        self.rebuild_lines()
        self.cursor = ids.index(current_id) if current_id in ids else self.cursor
        self.cursor_moved()

    def go_to(self, draft_id: str) -> None:
        """Move the cursor to a draft, if it is there."""
        ids = [row.id for row in self.rows]
        if draft_id in ids:
            self.cursor = ids.index(draft_id)
            self.show_cursor()

    def go_to_undecided(self) -> None:
        """Move the cursor to the next draft that needs a decision; stay if there is none."""
        below = [*range(self.cursor + 1, len(self.rows)), *range(self.cursor)]
        row = next((row for row in below if not self.rows[row].is_settled), None)
        if row is not None:
            self.go_to(self.rows[row].id)

    def row_heights(self) -> list[int]:
        return [2] * len(self.rows)

    def row_line(self, row: int, part: int, width: int) -> Line:
        draft = self.rows[row]
        return outcome_line(draft, width) if part else draft_line(draft, width, self.marker(row))

    def cursor_moved(self) -> None:
        if self.current is not None:
            self.post_message(self.Highlighted(self.current.id))

    def row_opened(self) -> None:
        self.post_message(self.Opened(self.rows[self.cursor].id))


def draft_line(draft: DraftRow, width: int, marker: str = " ") -> Line:
    """Return `› ≈ Alice favours async Slack` in exactly `width` cells."""
    text = Span(fit(draft.text, max(width - 3, 0)), "text" if draft.action == "skip" else "strong")
    return (Span(marker, "dim"), Span(f"{draft.sign} ", look_of(draft)), text)


def outcome_line(draft: DraftRow, width: int) -> Line:
    """Return `near → merge?  Alice Chen · fact`, with `?` where the user has to decide."""
    outcome: Line = (Span(draft.state, look_of(draft)),)
    if draft.is_decided:
        outcome += (Span(" → ", "dim"), Span(f"{draft.action_words} ✓", "accent"))
    elif draft.action:
        outcome += (Span(f" → {draft.action_words}{'' if draft.is_sure else '?'}", "dim"),)
    if draft.hint:
        outcome += (Span("  "), Span(f"≠? {draft.hint}", "bad"))
    blank = " " * max(OUTCOME_WIDTH - width_of(outcome), 2)
    about = shorten(draft.about, max(width - 3 - width_of(outcome) - len(blank), 0))
    return fit_line((Span("   "), *outcome, Span(blank), Span(about, "dim")), width)


def look_of(draft: DraftRow) -> Look:
    """Return the style for the state of a draft."""
    return STATE_LOOKS.get(draft.state, "dim")


def no_drafts(keymap: Keymap) -> EmptyState:
    """Return what the list shows without drafts."""
    about = titled_text(
        "No drafts.",
        "A draft is a fact you may want to keep. It is compared with the known facts as you"
        " type, and nothing is written until you say so.",
    )
    typing = "types a draft, or pastes several lines"
    if not keymap.offers("draft_line.take"):
        typing = "types a text, to be compared with what is known"
    leave = f"{keymap.key_of('draft_line.leave')} "  # in the line, letters are text
    commands = [
        f"{before}{keymap.key_of(command_id)} {words}"
        for before, command_id, words in (
            ("", "draft.new", typing),
            (leave, "drafts.load", "loads a file, one draft per line"),
            (leave, "drafts.scan", "finds what the knowledge base says twice"),
        )
        if keymap.offers(command_id)
    ]
    return lambda width: [
        *about(width),
        BLANK,
        *(line for text in commands for line in paragraph(text, width, "dim")),
    ]
