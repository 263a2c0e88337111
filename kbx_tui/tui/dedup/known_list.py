"""The known facts similar to a draft, best first, with a word diff of the one at the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.formatting import format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.dedup.known_rows import KnownRow
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, looks, slice_line
from kbx_tui.tui.drawing.wrapping import wrap_ranges
from kbx_tui.tui.widgets.lines_view import dim_text
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

if TYPE_CHECKING:
    from kbx_tui.drafting.differences import Piece

BAR, SMALL_BAR = 12, 4
"""The width of a full bar, in a wide and in a narrow pane."""
ROOMY = 60
"""The width from which there is room for the long bar and the date."""
INDENT = 5
GAP: Slot = (-1, 0)
OTHERS: Slot = (-1, 1)
"""The line above the facts of other entities, which may score higher than those above it."""
RELATION_LOOKS: dict[str, Look] = {"exact": "document", "duplicate": "document", "conflict": "bad"}
MARK_LOOKS: dict[str, Look] = {"same": "text", "differs": "match", "conflict": "bad"}


class KnownList(RowsView[KnownRow]):
    """Known facts and earlier drafts, each with score, relation and place."""

    COMPONENT_CLASSES = looks("strong", "document", "bad", "match", "rule", "cursor")
    BINDINGS = bindings("known")

    class Opened(Message):
        """The user opened the document that contains a fact."""

    subject = ""
    """The id of the draft they are compared with; empty for the text being typed."""

    def show(self, subject: str, known: tuple[KnownRow, ...]) -> None:
        """Show the facts similar to a draft; for another draft, start at the best one."""
        if subject != self.subject:
            self.chosen = False
        row = self.cursor if self.chosen else 0
        self.subject, self.rows = subject, known
        self.rebuild_lines()
        self.cursor = self.validate_cursor(row)
        self.show_cursor()

    def row_heights(self) -> list[int]:
        heights = [2] * len(self.rows)
        if self.current is not None:
            heights[self.cursor] += len(difference_lines(self.current, self.line_width))
        return heights

    def slots(self) -> list[Slot]:
        slots: list[Slot] = []
        others = next((row for row, known in enumerate(self.rows) if not known.decides), -1)
        for row, part in super().slots():
            if part == 0:
                slots += [GAP] if slots else []
                slots += [OTHERS] if row == others else []
            slots.append((row, part))
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            title = "of others, closest first; they do not decide"
            return (Span(shorten(f" {title}", width), "dim"),) if (row, part) == OTHERS else BLANK
        known = self.rows[row]
        if part == 0:
            return known_line(known, width, self.marker(row))
        if part == 1:
            return place_line(known, width)
        lines = difference_lines(known, width)
        return lines[part - 2] if part - 2 < len(lines) else BLANK

    def is_cursor_line(self, y: int) -> bool:
        return self.has_focus and super().is_cursor_line(y) and self.slot_at(y)[1] < 2

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # the difference is shown at another row
        self.show_cursor()

    def row_opened(self) -> None:
        self.post_message(self.Opened())


def known_line(known: KnownRow, width: int, marker: str = " ") -> Line:
    """Return `› .93 ██████████▏ duplicate  Prefers async Slack  2026-02-15`."""
    cells = BAR if width >= ROOMY else SMALL_BAR
    bar = fit("█" * round(known.score * cells), cells)
    relation = fit(known.relation, 10)
    end = f" {known.date}" if known.date and width >= ROOMY else ""
    room = width - 1 - 5 - cells - 1 - 11 - cell_len(end)
    look: Look = "dim" if known.is_redacted else "strong" if known.decides else "text"
    text = Span(fit(known.text, max(room, 0)), look)
    return (
        Span(marker, "dim"),
        Span(f"{format_score(known.score):>4} "),
        Span(f"{bar} ", "document" if known.decides else "rule"),
        Span(f"{relation} ", relation_look(known)),
        text,
        Span(end, "dim"),
    )


def relation_look(known: KnownRow) -> Look:
    """Return the style of a relation; only what decides, and a hint, stand out."""
    if known.is_of_another:
        return "bad"
    return RELATION_LOOKS.get(known.relation, "dim") if known.decides else "dim"


def place_line(known: KnownRow, width: int) -> Line:
    """Return the place, the owner, and the components of the score."""
    hint = "the same of another: can both be true?" if known.is_of_another else ""
    redacted = "redacted" if known.is_redacted else ""
    parts = (known.place, redacted, known.owner, hint, known.details, known.conflicts)
    text = "   ".join(filter(None, parts))
    return (Span(" " * INDENT), Span(shorten(text, max(width - INDENT, 0)), "dim"))


def difference_lines(known: KnownRow, width: int) -> list[Line]:
    """Return the known text (`−`) and the draft (`+`), with their differences marked."""
    room = max(width - INDENT - 2, 8)
    lines: list[Line] = []
    same: Look = "dim" if known.is_redacted else "text"
    for sign, pieces, look in (
        ("−", known.difference.right, same),
        ("+", known.difference.left, "text"),
    ):
        for number, line in enumerate(wrap_pieces(pieces, room, look)):
            head = f"{'':{INDENT}}{sign if number == 0 else ' '} "
            lines.append((Span(head, "dim"), *line))
    return lines


def wrap_pieces(pieces: Sequence[Piece], width: int, same: Look = "text") -> list[Line]:
    """Return pieces as lines of at most `width` cells, with differences also in brackets.

    `same` is the look of what does not differ.
    """
    spans = []
    for piece in pieces:
        is_plain = piece.mark == "same" or not piece.text.strip()
        text = piece.text if is_plain else f"[{piece.text}]"
        spans.append(Span(text, same if piece.mark == "same" else MARK_LOOKS[piece.mark]))
    text = "".join(span.text for span in spans)
    return [slice_line(tuple(spans), start, end) for start, end in wrap_ranges(text, width)]


no_known_facts = dim_text("No known fact is similar.")
no_draft_selected = dim_text("Facts similar to your draft appear here.")
still_compared = dim_text("Your draft is being compared with what is known.")
