"""A list of rows with a cursor. Rows may take several lines; other lines may stand between."""

from __future__ import annotations

from textual import events
from textual.reactive import reactive

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.empty_states import Invitation, nothing, squeezed
from kbx_tui.tui.drawing.lines import BLANK, Line
from kbx_tui.tui.widgets.lines_view import LinesView

Slot = tuple[int, int]
"""What a line shows: which row (-1: none) and which line of it."""


class RowsView(LinesView):
    """Rows, one of them under the cursor."""

    BINDINGS = bindings("list")
    cursor: reactive[int] = reactive(0)
    """The row under the cursor; 0 also when there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen = False
        """Whether a person put the cursor where it is; else it stays on the first row."""
        self.invitation: Invitation = nothing
        """What stands here when there are no rows."""
        self._slots: list[Slot] = []
        self._empty: list[Line] = []

    def count_rows(self) -> int:
        """Return how many rows there are."""
        raise NotImplementedError

    def slots(self) -> list[Slot]:
        """Return what each line shows, from the top."""
        raise NotImplementedError

    def row_line(self, row: int, part: int, width: int) -> Line:
        """Return line `part` of `row`, or a line between when `row` is -1."""
        raise NotImplementedError

    def highlighted(self) -> None:
        """Called when another row came under the cursor."""

    def opened(self) -> None:
        """Called when a person opens the row under the cursor."""

    def left(self) -> None:
        """Called when a person goes up from the first row."""

    def count_lines(self) -> int:
        self._slots = self.slots()
        if self._slots:
            return len(self._slots)
        self._empty = squeezed(self.invitation(self.line_width), self.line_room)
        return len(self._empty)

    def line_at(self, y: int, width: int) -> Line:
        if self._slots:
            return self.row_line(*self._slots[y], width) if y < len(self._slots) else BLANK
        return self._empty[y] if y < len(self._empty) else BLANK

    def is_cursor_line(self, y: int) -> bool:
        return y < len(self._slots) and self._slots[y][0] == self.cursor

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.count_rows() - 1))

    def watch_cursor(self) -> None:
        self.refresh()
        self.show_cursor()
        self.highlighted()

    def show_cursor(self) -> None:
        """Scroll so that the row under the cursor is wholly visible."""
        cursor, room, top = self.cursor, self.line_room, self.scroll_offset.y
        lines = [y for y, (row, _) in enumerate(self._slots) if row == cursor]
        if not lines or not room:
            return
        if cursor == self.count_rows() - 1:  # and what stands below it
            self.scroll_line(len(self._slots) - room)
        elif lines[0] < top or cursor == 0:
            self.scroll_line(0 if cursor == 0 else lines[0])
        elif lines[-1] >= top + room:
            self.scroll_line(lines[-1] - room + 1)

    def visible_rows(self) -> list[int]:
        """Return the rows of which a line is visible."""
        top = self.scroll_offset.y
        shown = self._slots[top : top + self.line_room]
        return sorted({row for row, _ in shown if row >= 0})

    def choose(self, row: int) -> None:
        """A person goes to `row`."""
        self.chosen = True
        self.cursor = row

    def action_move(self, rows: int) -> None:
        self.choose(self.cursor + rows)

    def action_move_or_leave(self) -> None:
        if self.cursor == 0:
            self.left()
        self.choose(self.cursor - 1)

    def action_move_page(self, pages: int) -> None:
        self.choose(self.cursor + pages * max(len(self.visible_rows()) - 1, 1))

    def action_move_to_end(self, last: bool) -> None:
        self.choose(self.count_rows() - 1 if last else 0)

    def action_open(self) -> None:
        if self.count_rows():
            self.opened()

    def on_click(self, event: events.Click) -> None:
        inside = event.get_content_offset(self)
        y = -1 if inside is None else inside.y + self.scroll_offset.y
        if 0 <= y < len(self._slots) and self._slots[y][0] >= 0:
            self.choose(self._slots[y][0])
            if event.chain == 2:
                self.action_open()
