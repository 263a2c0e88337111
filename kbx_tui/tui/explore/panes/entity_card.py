"""All that is known about one entity: what it is, open items, facts, and its documents in time."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import BLANK, Line, fit_line, looks
from kbx_tui.tui.explore import card_lines
from kbx_tui.tui.explore.view import CardView
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

REACH = 3
"""So many lines out of sight, the next row is still gone to at once; further away, text is read
line by line until it comes."""


class EntityCard(RowsView):
    """A page of text; its rows are what can be read: the entity's own page and its documents."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule", "heading", "cursor")
    BINDINGS = bindings("card")

    class Closed(Message):
        """A person is done with the card."""

    @dataclass
    class Opened(Message):
        """A person wants to read a document."""

        path: str

    def __init__(self) -> None:
        super().__init__()
        self.card: CardView | None = None
        self._text: list[Line] = []
        self._tops: list[int] = []
        """First line of each row."""
        self._height = self._room = 1
        """Lines of a document; lines that were visible when all was last laid out."""

    def show(self, card: CardView) -> None:
        """Show another entity from the top, or the same one anew where it was."""
        goes_on = self.card is not None and self.card.id == card.id
        path, below_top = self.current_path, self._below_top() if goes_on else None
        self.card = card
        self.border_title = "Entity"
        paths = self._paths() if goes_on else []
        self.set_reactive(EntityCard.cursor, paths.index(path) if path in paths else 0)
        self._lay_out(below_top)
        if not goes_on:
            self.scroll_line(0)

    def lines_changed(self) -> None:
        self._lay_out(self._below_top())

    @property
    def current_path(self) -> str:
        """Path of the document under the cursor; empty when there is none."""
        paths = self._paths()
        return paths[self.cursor] if self.cursor < len(paths) else ""

    # Rows.

    def count_rows(self) -> int:
        return 0 if self.card is None else self._pages + len(self.card.documents)

    def slots(self) -> list[Slot]:
        card, width = self.card, self.line_width
        self._text, self._tops = [], []
        self._height = card_lines.document_height(width)
        slots: list[Slot] = []
        if card is None or width <= 0:
            return slots

        def say(lines: list[Line]) -> None:
            slots.extend((-1, len(self._text) + index) for index in range(len(lines)))
            self._text += lines

        def offer(parts: int) -> None:
            self._tops.append(len(slots))
            slots.extend((len(self._tops) - 1, part) for part in range(parts))

        say([*card_lines.head_lines(card, width), BLANK])
        if card.path:
            offer(1)
        else:
            say(card_lines.no_page_lines(width))
        say(card_lines.item_lines(card.open_items, width))
        say(card_lines.fact_lines(card.facts, width))
        if card.documents:
            say([BLANK, card_lines.documents_title(len(card.documents), width)])
        for year, count in card_lines.document_groups(card.documents):
            say([card_lines.group_line(year, count, width)])
            for _ in range(count):
                offer(self._height)
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        card = self.card
        if row < 0 or card is None:
            return fit_line(self._text[part], width)
        at = row == self.cursor
        if row < self._pages:
            return card_lines.page_line(card.path, width, cursor=at)
        return card_lines.document_line(card.documents[row - self._pages], part, width, cursor=at)

    def opened(self) -> None:
        if self._in_sight(self.cursor):
            self.post_message(self.Opened(self.current_path))
        else:
            self.show_cursor()

    # Moving: rows may be pages of text apart, and that text is there to be read.

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def action_move(self, rows: int) -> None:
        step = 1 if rows > 0 else -1
        row = self._next_row(step)
        if row is not None and self._distance(row) <= REACH:
            self._go(row)
        else:
            self.scroll_line(self.scroll_offset.y + step)

    def action_move_page(self, pages: int) -> None:
        before = self.scroll_offset.y
        self.scroll_line(before + pages * max(self.line_room - 1, 1))
        if self.scroll_offset.y == before:  # there is no further page: to its last row then
            self.action_move_to_end(pages > 0)
        elif not self._in_sight(self.cursor):
            row = self._next_row(1 if pages > 0 else -1)
            if row is not None and self._in_sight(row):
                self._go(row)

    def action_move_to_end(self, last: bool) -> None:
        self.choose(self.count_rows() - 1 if last else 0)
        self.scroll_line(self.virtual_size.height if last else 0)

    def show_cursor(self) -> None:
        if self.cursor < len(self._tops) and self.line_room:
            bottom = self._bottom(self.cursor)
            if self._tops[self.cursor] < self.scroll_offset.y:
                self.scroll_line(self._tops[self.cursor])
            elif bottom >= self.scroll_offset.y + self.line_room:
                self.scroll_line(bottom - self.line_room + 1)

    # Within.

    @property
    def _pages(self) -> int:
        return 1 if self.card is not None and self.card.path else 0

    def _paths(self) -> list[str]:
        if self.card is None:
            return []
        page = [self.card.path] if self.card.path else []
        return page + [document.path for document in self.card.documents]

    def _lay_out(self, below_top: int | None) -> None:
        """Lay out anew; `below_top` lines below the top the row under the cursor is to stay."""
        super().lines_changed()
        self._room = self.line_room
        if below_top is not None and self.cursor < len(self._tops):
            if self.scroll_offset.y:  # else the name on top stays in sight
                self.scroll_line(self._tops[self.cursor] - below_top)
            self.show_cursor()

    def _below_top(self) -> int | None:
        """Return how far below the top the row under the cursor is; None when out of sight."""
        in_sight = self._in_sight(self.cursor)
        return self._tops[self.cursor] - self.scroll_offset.y if in_sight else None

    def _bottom(self, row: int) -> int:
        """Return the last line of a row."""
        return self._tops[row] + (0 if row < self._pages else self._height - 1)

    def _distance(self, row: int) -> int:
        """Return how many lines one has to scroll to see all of a row."""
        first = self.scroll_offset.y
        return max(first - self._tops[row], self._bottom(row) - (first + self._room - 1), 0)

    def _in_sight(self, row: int) -> bool:
        return row < len(self._tops) and self._distance(row) == 0

    def _go(self, row: int) -> None:
        self.choose(row)
        self.show_cursor()  # also when the cursor is there already

    def _next_row(self, step: int) -> int | None:
        """Return the row beside the cursor, or from the edge of what is in sight if that is not."""
        if self._in_sight(self.cursor):
            row = self.cursor + step
        elif step > 0:
            row = bisect_left(self._tops, self.scroll_offset.y)
        else:
            row = bisect_left(self._tops, self.scroll_offset.y + self.line_room) - 1
        return row if 0 <= row < len(self._tops) else None
