"""Scrolling lists of rows with a cursor: their base, the list of a box, and a list of choices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual import events
from textual.message import Message
from textual.reactive import reactive

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, fit_line, fit_to_height, looks, paragraph
from kbx_tui.tui.widgets.lines_view import LinesView

Slot = tuple[int, int]
"""What a line shows: a row, or -1 for a line between rows, and which line of it."""

RowT = TypeVar("RowT")


class RowsView(LinesView, Generic[RowT]):
    """Rows of one or more lines, one row under the cursor, and lines between them."""

    BINDINGS = bindings("list")
    LEAVE_ACTION = ""
    """The action of moving up from the first row, if any."""
    rows: tuple[RowT, ...] = ()
    cursor: reactive[int] = reactive(0)
    """The row under the cursor; 0 if there are no rows."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen = False
        """Whether the user has moved the cursor; until then it stays on the first row."""
        self._slots: list[Slot] = []
        self._empty: list[Line] = []

    @property
    def current(self) -> RowT | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def marker(self, row: int) -> str:
        """Return the sign before a row: `›` at the cursor of a focused list."""
        return "›" if row == self.cursor and self.has_focus else " "

    def row_heights(self) -> list[int]:
        """Return the number of lines of each row."""
        return [1] * len(self.rows)

    def slots(self) -> list[Slot]:
        """Return what each line shows, from the top."""
        return [(row, part) for row, n in enumerate(self.row_heights()) for part in range(n)]

    def row_line(self, row: int, part: int, width: int) -> Line:
        """Return line `part` of `row`; a line between rows if `row` is -1."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        """Handle a move of the cursor to another row; subclasses override it."""

    def row_opened(self) -> None:
        """Handle the opening of the row under the cursor; subclasses override it."""

    def slot_at(self, y: int) -> Slot:
        """Return what line `y` shows; (-1, 0) below the last line."""
        return self._slots[y] if y < len(self._slots) else (-1, 0)

    def count_lines(self) -> int:
        self._slots = self.slots()
        self._empty = [] if self._slots else self.empty_lines()
        return len(self._slots or self._empty)

    def line_at(self, y: int, width: int) -> Line:
        if self._slots:
            return self.row_line(*self._slots[y], width) if y < len(self._slots) else BLANK
        return self._empty[y] if y < len(self._empty) else BLANK

    def is_cursor_line(self, y: int) -> bool:
        return self.slot_at(y)[0] == self.cursor

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.rows) - 1))

    def watch_cursor(self) -> None:
        self.refresh()
        self.show_cursor()
        self.cursor_moved()

    def show_cursor(self) -> None:
        """Scroll until the row under the cursor is fully visible."""
        cursor, height, top = self.cursor, self.visible_height, self.scroll_offset.y
        lines = [y for y, (row, _) in enumerate(self._slots) if row == cursor]
        if not lines or not height:
            return
        if cursor == len(self.rows) - 1:  # with the lines below the last row
            self.scroll_to_line(len(self._slots) - height)
        elif lines[0] < top or cursor == 0:
            self.scroll_to_line(0 if cursor == 0 else lines[0])
        elif lines[-1] >= top + height:
            self.scroll_to_line(lines[-1] - height + 1)

    def visible_rows(self) -> list[int]:
        """Return the rows that are at least partly visible."""
        top = self.scroll_offset.y
        visible_slots = self._slots[top : top + self.visible_height]
        return sorted({row for row, _ in visible_slots if row >= 0})

    def choose(self, row: int) -> None:
        """Move the cursor to `row` on behalf of the user."""
        self.chosen = True
        self.cursor = row

    def action_move(self, rows: int) -> None:
        self.choose(self.cursor + rows)

    async def action_move_or_leave(self) -> None:
        if self.cursor == 0 and self.LEAVE_ACTION:
            await self.run_action(self.LEAVE_ACTION)
        self.choose(self.cursor - 1)

    def action_move_page(self, pages: int) -> None:
        self.choose(self.cursor + pages * max(len(self.visible_rows()) - 1, 1))

    def action_move_to_end(self, last: bool) -> None:
        self.choose(len(self.rows) - 1 if last else 0)

    def action_open(self) -> None:
        if self.rows:
            self.row_opened()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = -1 if offset is None else self.slot_at(offset.y + self.scroll_offset.y)[0]
        if row >= 0:
            self.choose(row)
            if event.chain == 2:
                self.action_open()


class BoxList(RowsView[RowT], can_focus=False):
    """One line per row; keys reach it through the screen, because a field has the focus."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")

    @dataclass
    class Opened(Message):
        """The user chose a row with the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._around: list[Line] = []
        """The lines above the rows, then those below them."""

    def show(self, rows: Iterable[RowT]) -> None:
        """Show these rows, with the cursor on the first."""
        self.rows = tuple(rows)
        self.set_reactive(RowsView.cursor, 0)
        self.rebuild_lines()
        self.scroll_to_line(0)

    def lines_above(self, width: int) -> list[Line]:
        """Return the lines above the rows."""
        return []

    def lines_below(self, width: int) -> list[Line]:
        """Return the lines below the rows: details of the row under the cursor."""
        return []

    def line_of_row(self, row: int, width: int) -> Line:
        """Return the line of a row."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        self.rebuild_lines()

    def row_opened(self) -> None:
        self.post_message(self.Opened())

    def slots(self) -> list[Slot]:
        above, below = self.lines_above(self.line_width), self.lines_below(self.line_width)
        self._around, first = [*above, *below], len(above)
        return [
            *((-1, part) for part in range(first)),
            *super().slots(),
            *((-1, first + part) for part in range(len(below))),
        ]

    def row_line(self, row: int, part: int, width: int) -> Line:
        return self._around[part] if row < 0 else self.line_of_row(row, width)


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
