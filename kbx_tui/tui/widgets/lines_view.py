"""Widgets that draw lines: a single one, scrolling panes, and lists of rows with a cursor.

None mounts a widget per line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeGuard, TypeVar, cast

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    LineDrawing,
    Span,
    fit_line,
    fit_to_height,
    looks,
    paragraph,
    shorten,
    width_of,
    wrap,
)

EmptyState = Callable[[int], list[Line]]


class WholeCells(ScrollBarRender):
    """Draws a thumb of whole cells: in a pane of two rows, parts of one look broken."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]


ScrollBar.renderer = WholeCells


def blank(width: int) -> list[Line]:
    """Return no lines, as the empty state of a pane whose neighbour says what to do."""
    return []


def dim_text(text: str) -> EmptyState:
    return lambda width: paragraph(text, width, "dim")


def titled_text(title: str, *texts: str) -> EmptyState:
    return lambda width: [
        *paragraph(title, width, "strong"),
        BLANK,
        *(line for text in texts for line in paragraph(text, width)),
    ]


class LinesView(LineDrawing, ScrollView, can_focus=True, inherit_bindings=False):
    COMPONENT_CLASSES = looks()
    DEFAULT_CSS = """
    LinesView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.empty_state: EmptyState = blank

    def empty_lines(self) -> list[Line]:
        if not self.line_width:
            return []  # not laid out yet: words would be wrapped letter by letter
        return fit_to_height(self.empty_state(self.line_width), self.visible_height)

    def count_lines(self) -> int:
        raise NotImplementedError

    def line_at(self, y: int, width: int) -> Line:
        """Return line `y`; what of it is wider than `width` cells is cut when it is drawn."""
        raise NotImplementedError

    def is_cursor_line(self, y: int) -> bool:
        return False

    @property
    def line_width(self) -> int:
        return self.scrollable_content_region.width

    @property
    def visible_height(self) -> int:
        return self.scrollable_content_region.height

    def rebuild_lines(self) -> None:
        """Measure and redraw; call it after changing what the pane shows."""
        self.virtual_size = Size(self.line_width, self.count_lines())
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.rebuild_lines()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Show the current position; Textual updates only a scrollbar that is shown."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def render_line(self, y: int) -> Strip:
        width, y = self.line_width, y + self.scroll_offset.y
        line = self.line_at(y, width) if y < self.virtual_size.height else BLANK
        return self.draw(fit_line(line, width), width, cursor=self.is_cursor_line(y))

    def scroll_to_line(self, y: int) -> None:
        """Scroll line `y` to the top, or as near to it as possible."""
        # Forced, because Textual learns only at the next refresh whether there is a scrollbar.
        self.scroll_to(y=max(y, 0), animate=False, force=True)


class TextPane(LinesView):
    BINDINGS = bindings("text")

    def __init__(self, content: EmptyState = blank) -> None:
        """`content` returns all lines for a width, unless `build` is overridden."""
        super().__init__()
        self.content = content
        self._lines: list[Line] = []

    def build(self, width: int) -> list[Line]:
        return self.content(width)

    def count_lines(self) -> int:
        self._lines = self.build(self.line_width) if self.line_width > 0 else []
        return len(self._lines)

    def line_at(self, y: int, width: int) -> Line:
        return self._lines[y] if y < len(self._lines) else BLANK

    def action_scroll_lines(self, lines: int) -> None:
        self.scroll_to_line(self.scroll_offset.y + lines)

    def action_scroll_pages(self, pages: int) -> None:
        self.scroll_to_line(self.scroll_offset.y + pages * max(self.visible_height - 1, 1))

    def action_scroll_to_end(self, bottom: bool) -> None:
        self.scroll_to_line(self.virtual_size.height if bottom else 0)


class LineWidget(LineDrawing, Widget):
    COMPONENT_CLASSES = looks()
    DEFAULT_CSS = "LineWidget { height: 1; }"
    _line: Callable[[int], Line] | None = None

    def show_line(self, line: Callable[[int], Line]) -> None:
        self._line = line
        self.refresh()

    def line(self, width: int) -> Line:
        return BLANK if self._line is None else self._line(width)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return width_of(self.line(container.width)) + 1

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return self.draw(fit_line(self.line(width), width), width)


Slot = tuple[int, int]
"""A line of a row: (index of the row, index of the line within it)."""

RowT = TypeVar("RowT")


@dataclass
class RowMessage(Message):
    """About a row; `@on(RowsView.Opened, "EntityList")` handles those of one list."""

    rows_view: RowsView[Any]
    row: Any

    @property
    def control(self) -> RowsView[Any]:
        return self.rows_view


class RowsView(LinesView, Generic[RowT]):
    BINDINGS = bindings("list")
    NEEDS_FOCUS = False
    """Whether the cursor is drawn only while the list has the focus."""
    LEAVE_ACTION = ""
    rows: tuple[RowT, ...] = ()
    cursor: reactive[int] = reactive(0)

    class Opened(RowMessage):
        """The user opened a row."""

    class Moved(RowMessage):
        """The cursor is on another row."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RowsView.Moved) and message.rows_view is self.rows_view

    def __init__(self) -> None:
        super().__init__()
        self.chosen = False
        """Whether the user has moved the cursor; until then it stays on the first row."""
        self._slots: Sequence[Slot | Line] = ()
        self._empty: list[Line] = []

    @property
    def current(self) -> RowT | None:
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def show_rows(
        self, rows: Iterable[RowT], key: Callable[[RowT], object], *, otherwise: int = 0
    ) -> None:
        """Show rows, with the cursor on the row with the same key as before, else `otherwise`."""
        before, shown = self.current, tuple(rows)
        if before is not None:
            keys, same = [key(row) for row in shown], key(before)
            otherwise = keys.index(same) if same in keys else otherwise
        self.show_at(shown, otherwise)

    def show_at(self, rows: tuple[RowT, ...], cursor: int) -> None:
        self.rows = rows
        # Set before rebuilding the lines: fewer lines may scroll the list, which reads the cursor.
        self.set_reactive(RowsView.cursor, self.validate_cursor(cursor))
        self.rebuild_lines()
        self.show_cursor()

    def marker(self, row: int) -> str:
        return "›" if row == self.cursor and self.has_focus else " "

    def row_heights(self) -> list[int]:
        return [1] * len(self.rows)

    def row_slots(self) -> list[Slot]:
        return [(row, part) for row, n in enumerate(self.row_heights()) for part in range(n)]

    def slots(self) -> Sequence[Slot | Line]:
        """Return what each line shows, from the top: a line of a row, or a line between rows."""
        return self.row_slots()

    def grouped(
        self, group_of: Callable[[RowT], object], title_of: Callable[[RowT], Line]
    ) -> Sequence[Slot | Line]:
        """Return the lines of all rows, which are sorted by group, with a title per group."""
        shown: list[Slot | Line] = []
        for row, part in self.row_slots():
            each, before = self.rows[row], self.rows[row - 1]
            if part == 0 and (row == 0 or group_of(each) != group_of(before)):
                shown += [BLANK, title_of(each)] if shown else [title_of(each)]
            shown.append((row, part))
        return shown

    def row_line(self, row: int, part: int, width: int) -> Line:
        raise NotImplementedError

    def cursor_moved(self) -> None:
        """Tell of a move of the cursor to another row; subclasses may also draw it otherwise."""
        if self.current is not None:
            self.post_message(self.Moved(self, self.current))

    def row_opened(self) -> None:
        self.post_message(self.Opened(self, self.current))

    def slot_at(self, y: int) -> Slot:
        """Return the slot that line `y` shows; (-1, 0) if the line belongs to no row."""
        slot = self._slots[y] if y < len(self._slots) else BLANK
        return slot if _is_of_row(slot) else (-1, 0)

    def count_lines(self) -> int:
        self._slots = self.slots()
        self._empty = [] if self._slots else self.empty_lines()
        return len(self._slots or self._empty)

    def line_at(self, y: int, width: int) -> Line:
        shown = self._slots or self._empty
        slot = shown[y] if y < len(shown) else BLANK
        return self.row_line(*slot, width) if _is_of_row(slot) else cast("Line", slot)

    def is_cursor_line(self, y: int) -> bool:
        return self.slot_at(y)[0] == self.cursor and (self.has_focus or not self.NEEDS_FOCUS)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.rows) - 1))

    def watch_cursor(self) -> None:
        self.refresh()
        self.show_cursor()
        self.cursor_moved()

    def show_cursor(self) -> None:
        cursor, height, top = self.cursor, self.visible_height, self.scroll_offset.y
        lines = [y for y, slot in enumerate(self._slots) if _is_of_row(slot) and slot[0] == cursor]
        if not lines or not height:
            return
        if cursor == len(self.rows) - 1:  # show the lines below the last row, too
            self.scroll_to_line(len(self._slots) - height)
        elif lines[0] < top or cursor == 0:
            self.scroll_to_line(0 if cursor == 0 else lines[0])
        elif lines[-1] >= top + height:
            self.scroll_to_line(lines[-1] - height + 1)

    def visible_rows(self) -> list[int]:
        top = self.scroll_offset.y
        rows = {self.slot_at(y)[0] for y in range(top, top + self.visible_height)}
        return sorted(rows - {-1})

    def choose(self, row: int) -> None:
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

    def row_at(self, event: events.MouseEvent) -> Slot:
        offset = event.get_content_offset(self)
        return (-1, 0) if offset is None else self.slot_at(offset.y + self.scroll_offset.y)

    def on_click(self, event: events.Click) -> None:
        row, _ = self.row_at(event)
        if row >= 0:
            self.choose(row)
            if event.chain == 2:
                self.action_open()


def dim_title(text: str) -> Line:
    return (Span(f"  {text}", "dim"),)


def _is_of_row(slot: Slot | Line) -> TypeGuard[Slot]:
    return bool(slot) and isinstance(slot[0], int)


class BoxList(RowsView[RowT], can_focus=False):
    """One line per row; keys reach it through the screen, because a field has the focus."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")

    def show(self, rows: Iterable[RowT]) -> None:
        self.rows = tuple(rows)
        self.set_reactive(RowsView.cursor, 0)
        self.rebuild_lines()
        self.scroll_to_line(0)

    def lines_above(self, width: int) -> list[Line]:
        return []

    def detail(self) -> str:
        """Return what the row under the cursor says in addition, below its line."""
        return ""

    def cursor_moved(self) -> None:
        self.rebuild_lines()
        self.show_cursor()

    def row_heights(self) -> list[int]:
        heights = super().row_heights()
        if self.rows:
            heights[self.cursor] += len(self._detail_lines(self.line_width))
        return heights

    def line_at(self, y: int, width: int) -> Line:
        part = self.slot_at(y)[1]
        return self._detail_lines(width)[part - 1] if part else super().line_at(y, width)

    def _detail_lines(self, width: int) -> list[Line]:
        lines = wrap(self.detail(), max(width - 6, 8)) if self.detail() else []
        return [(Span(f"     {line}", "dim"),) for line in lines]

    def slots(self) -> Sequence[Slot | Line]:
        return [*self.lines_above(self.line_width), *self.row_slots()]


LINES_PER_CHOICE = 3


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    title: str
    description: str


class ChoiceList(RowsView[Choice]):
    COMPONENT_CLASSES = looks("strong", "accent", "cursor")
    BINDINGS = bindings("welcome")

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        self.rows = tuple(choices)
        self.intro: tuple[str, ...] = ()
        """Paragraphs above the choices; blank lines are dropped if the choices would not fit."""
        self.outro: tuple[str, ...] = ()

    def row_heights(self) -> list[int]:
        return [LINES_PER_CHOICE] * len(self.rows)

    def slots(self) -> Sequence[Slot | Line]:
        choices = self.row_slots()
        room = max(self.visible_height - len(choices) + 1, 1)
        return [
            *fit_to_height(self._lines_of(self.intro), room),
            *choices,
            *self._lines_of(self.outro),
        ]

    def _lines_of(self, texts: Sequence[str]) -> list[Line]:
        return [
            line
            for text in filter(None, texts)
            for line in (*paragraph(text, self.line_width - 1), BLANK)
        ]

    def row_line(self, row: int, part: int, width: int) -> Line:
        choice = self.rows[row]
        if part == 0:
            marker = " › " if row == self.cursor else "   "
            return (Span(marker, "accent"), Span(choice.title, "strong"))
        if part == 1:
            return (Span("   "), Span(shorten(choice.description, width - 4), "dim"))
        return BLANK

    def is_cursor_line(self, y: int) -> bool:
        return super().is_cursor_line(y) and self.slot_at(y)[1] < LINES_PER_CHOICE - 1
