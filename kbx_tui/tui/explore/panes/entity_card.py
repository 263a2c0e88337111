"""The card of one entity: who or what it is, open items, facts, and documents by date."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import BLANK, Line, fit_line, looks
from kbx_tui.tui.explore.panes import card_lines
from kbx_tui.tui.explore.view import CardView
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

REACH = 3
"""The cursor moves to the next row if that is at most this many lines of scrolling away."""


class EntityCard(RowsView[str]):
    """A page of text whose rows are what can be opened: the entity's page and its documents."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule", "heading", "cursor")
    BINDINGS = bindings("card")

    class Closed(Message):
        """The user closed the card."""

    @dataclass
    class Opened(Message):
        """The user opened a document."""

        path: str

    def __init__(self) -> None:
        super().__init__()
        self.card: CardView | None = None
        self._text: list[Line] = []
        self._tops: list[int] = []
        """The first line of each row."""
        self._document_height = 1
        """The lines that each document takes."""
        self._laid_out_height = 1
        """The visible height for which the card was last laid out."""

    def show(self, card: CardView) -> None:
        """Show an entity from the top; the same entity keeps its cursor and scroll position."""
        same = self.card is not None and self.card.id == card.id
        path, cursor_offset = self.current_path, self._cursor_offset() if same else None
        self.card = card
        self.rows = tuple(filter(None, [card.path])) + tuple(item.path for item in card.documents)
        self.border_title = "Entity"
        row = self.rows.index(path) if same and path in self.rows else 0
        self.set_reactive(EntityCard.cursor, row)
        self._lay_out(cursor_offset)
        if not same:
            self.scroll_to_line(0)

    def rebuild_lines(self) -> None:
        self._lay_out(self._cursor_offset())

    @property
    def current_path(self) -> str:
        """The path of the document under the cursor, or empty."""
        return self.current or ""

    def slots(self) -> list[Slot]:
        card, width = self.card, self.line_width
        self._text, self._tops = [], []
        self._document_height = card_lines.document_height(width)
        slots: list[Slot] = []
        if card is None or width <= 0:
            return slots

        def add_text(lines: list[Line]) -> None:
            slots.extend((-1, len(self._text) + index) for index in range(len(lines)))
            self._text += lines

        def add_row(height: int) -> None:
            self._tops.append(len(slots))
            slots.extend((len(self._tops) - 1, part) for part in range(height))

        add_text([*card_lines.head_lines(card, width), BLANK])
        if card.path:
            add_row(1)
        else:
            add_text(card_lines.no_page_lines(width))
        add_text(card_lines.item_lines(card.open_items, width))
        add_text(card_lines.fact_lines(card.facts, width))
        if card.documents:
            add_text([BLANK, card_lines.title_line("Documents", len(card.documents), width)])
        for year, count in card_lines.document_groups(card.documents):
            add_text([card_lines.group_line(year, count, width)])
            for _ in range(count):
                add_row(self._document_height)
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        card = self.card
        if row < 0 or card is None:
            return fit_line(self._text[part], width)
        cursor = row == self.cursor
        if row < self._page_count:
            return card_lines.page_line(card.path, width, cursor=cursor)
        document = card.documents[row - self._page_count]
        return card_lines.document_line(document, part, width, cursor=cursor)

    def row_opened(self) -> None:
        if self._is_visible(self.cursor):
            self.post_message(self.Opened(self.current_path))
        else:
            self.show_cursor()

    # Rows may be pages of text apart, and moving must not skip that text.

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def action_move(self, rows: int) -> None:
        step = 1 if rows > 0 else -1
        row = self._next_row(step)
        if row is not None and self._distance(row) <= REACH:
            self._go_to(row)
        else:
            self.scroll_to_line(self.scroll_offset.y + step)

    def action_move_page(self, pages: int) -> None:
        before = self.scroll_offset.y
        self.scroll_to_line(before + pages * max(self.visible_height - 1, 1))
        if self.scroll_offset.y == before:  # already on the last page: go to its last row
            self.action_move_to_end(pages > 0)
        elif not self._is_visible(self.cursor):
            row = self._next_row(1 if pages > 0 else -1)
            if row is not None and self._is_visible(row):
                self._go_to(row)

    def action_move_to_end(self, last: bool) -> None:
        super().action_move_to_end(last)
        self.scroll_to_line(self.virtual_size.height if last else 0)

    def show_cursor(self) -> None:
        if self.cursor < len(self._tops) and self.visible_height:
            bottom = self._bottom(self.cursor)
            if self._tops[self.cursor] < self.scroll_offset.y:
                self.scroll_to_line(self._tops[self.cursor])
            elif bottom >= self.scroll_offset.y + self.visible_height:
                self.scroll_to_line(bottom - self.visible_height + 1)

    @property
    def _page_count(self) -> int:
        """The number of rows for the entity's own page: 0 or 1."""
        return 1 if self.card is not None and self.card.path else 0

    def _lay_out(self, cursor_offset: int | None) -> None:
        """Rebuild the lines, keeping the cursor row `cursor_offset` lines below the top."""
        super().rebuild_lines()
        self._laid_out_height = self.visible_height
        if cursor_offset is not None and self.cursor < len(self._tops):
            if self.scroll_offset.y:  # unscrolled, the name stays visible at the top
                self.scroll_to_line(self._tops[self.cursor] - cursor_offset)
            self.show_cursor()

    def _cursor_offset(self) -> int | None:
        """Return how many lines the cursor row is below the top, or None if it is not visible."""
        visible = self._is_visible(self.cursor)
        return self._tops[self.cursor] - self.scroll_offset.y if visible else None

    def _bottom(self, row: int) -> int:
        """Return the last line of a row."""
        return self._tops[row] + (0 if row < self._page_count else self._document_height - 1)

    def _distance(self, row: int) -> int:
        """Return how many lines to scroll until a row is fully visible."""
        first = self.scroll_offset.y
        return max(
            first - self._tops[row], self._bottom(row) - (first + self._laid_out_height - 1), 0
        )

    def _is_visible(self, row: int) -> bool:
        return row < len(self._tops) and self._distance(row) == 0

    def _go_to(self, row: int) -> None:
        self.choose(row)
        self.show_cursor()  # even if the cursor was there already

    def _next_row(self, step: int) -> int | None:
        """Return the row next to the cursor, or to the visible lines if the cursor is hidden."""
        if self._is_visible(self.cursor):
            row = self.cursor + step
        elif step > 0:
            row = bisect_left(self._tops, self.scroll_offset.y)
        else:
            row = bisect_left(self._tops, self.scroll_offset.y + self.visible_height) - 1
        return row if 0 <= row < len(self._tops) else None
