"""Widgets that draw lines: a single one, or scrolling panes that mount no widget per line."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    LineDrawing,
    fit_line,
    fit_to_height,
    looks,
    paragraph,
    width_of,
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
