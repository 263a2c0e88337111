"""What is known like a draft, closest first; the one under the cursor compared word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.formatting import score_text
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.dedup.known_rows import KnownRow
from kbx_tui.tui.drawing import wrapping
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, looks
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

if TYPE_CHECKING:
    from kbx_tui.drafting.differences import Piece

BAR, SMALL_BAR = 12, 4
"""Cells of a whole bar."""
ROOMY = 60
"""From this width on there is room for a long bar and a date."""
INDENT = 5
RELATION_LOOKS: dict[str, Look] = {
    "exact": "document",
    "duplicate": "document",
    "conflict": "bad",
}
MARK_LOOKS: dict[str, Look] = {"same": "text", "differs": "match", "conflict": "bad"}


class KnownList(RowsView):
    """Facts and earlier drafts, each with score, relation and place."""

    COMPONENT_CLASSES = looks("strong", "document", "bad", "match", "rule", "cursor")
    BINDINGS = bindings("known")

    @dataclass
    class Opened(Message):
        """A person wants to read where a fact stands."""

        known: KnownRow

    def __init__(self) -> None:
        super().__init__()
        self.known: tuple[KnownRow, ...] = ()
        self.subject = ""
        """What all this is like: the id of a draft, or empty for what is being typed."""

    def show(self, subject: str, known: tuple[KnownRow, ...]) -> None:
        """Show what is like a draft; another draft begins at the closest."""
        if subject != self.subject:
            self.chosen = False
        at = self.cursor if self.chosen else 0
        self.subject, self.known = subject, known
        self.lines_changed()
        self.cursor = self.validate_cursor(at)
        self.show_cursor()

    @property
    def current(self) -> KnownRow | None:
        """What is under the cursor."""
        return self.known[self.cursor] if self.cursor < len(self.known) else None

    def count_rows(self) -> int:
        return len(self.known)

    def slots(self) -> list[Slot]:
        width, slots = self.line_width, []
        for row, known in enumerate(self.known):
            parts = 2 + (len(compared(known, width)) if row == self.cursor else 0)
            slots += [(row, part) for part in range(parts)]
            slots.append((-1, 0))
        return slots[:-1]

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return BLANK
        known = self.known[row]
        if part == 0:
            return known_line(known, width, "›" if row == self.cursor and self.has_focus else " ")
        if part == 1:
            return place_line(known, width)
        lines = compared(known, width)
        return lines[part - 2] if part - 2 < len(lines) else BLANK

    def is_cursor_line(self, y: int) -> bool:
        return self.has_focus and super().is_cursor_line(y) and self._slots[y][1] < 2

    def highlighted(self) -> None:
        self.lines_changed()  # another row is compared
        self.show_cursor()

    def opened(self) -> None:
        self.post_message(self.Opened(self.known[self.cursor]))


def known_line(known: KnownRow, width: int, marker: str = " ") -> Line:
    """Return `› .93 ██████████▏ duplicate  Prefers async Slack  2026-02-15`, `width` cells."""
    cells = BAR if width >= ROOMY else SMALL_BAR
    bar = fit("█" * round(known.score * cells), cells)
    relation = fit(known.relation, 10)
    end = f" {known.date}" if known.date and width >= ROOMY else ""
    room = width - 1 - 5 - cells - 1 - 11 - cell_len(end)
    text = Span(fit(known.text, max(room, 0)), "strong" if known.decides else "text")
    return (
        Span(marker, "dim"),
        Span(f"{score_text(known.score):>4} "),
        Span(f"{bar} ", "document" if known.decides else "rule"),
        Span(f"{relation} ", RELATION_LOOKS.get(known.relation, "dim") if known.decides else "dim"),
        text,
        Span(end, "dim"),
    )


def place_line(known: KnownRow, width: int) -> Line:
    """Return where it stands, whose it is, and what its score came from."""
    parts = (known.place, known.owner, known.details, known.conflicts)
    words = "   ".join(part for part in parts if part)
    if not known.decides:
        words += "   does not decide"
    return (Span(" " * INDENT), Span(shorten(words, max(width - INDENT, 0)), "dim"))


def compared(known: KnownRow, width: int) -> list[Line]:
    """Return both texts, what one does not have of the other marked: draft `+`, known `−`."""
    room = max(width - INDENT - 2, 8)
    lines: list[Line] = []
    for sign, pieces in (("−", known.difference.right), ("+", known.difference.left)):
        for number, line in enumerate(wrapped(pieces, room)):
            head = f"{'':{INDENT}}{sign if number == 0 else ' '} "
            lines.append((Span(head, "dim"), *line))
    return lines


def wrapped(pieces: Sequence[Piece], width: int) -> list[Line]:
    """Return pieces in lines of at most `width` cells; what differs stands in brackets too."""
    text, ends = "", []
    for piece in pieces:
        plain = piece.mark == "same" or not piece.text.strip()
        text += piece.text if plain else f"[{piece.text}]"
        ends.append((len(text), MARK_LOOKS[piece.mark]))
    return [_spans(text, start, end, ends) for start, end in wrapping.pieces(text, width)]


def _spans(text: str, start: int, end: int, ends: Sequence[tuple[int, Look]]) -> Line:
    spans = []
    for stop, look in ends:
        if stop > start and start < end:
            spans.append(Span(text[start : min(stop, end)], look))
            start = min(stop, end)
    return tuple(spans)
