"""Scrolling panes of lines: nothing is mounted per row, only what is visible is drawn."""

from __future__ import annotations

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, looks


class LinesView(LineDrawing, ScrollView, can_focus=True, inherit_bindings=False):
    """A pane that draws the lines in sight."""

    COMPONENT_CLASSES = looks()
    DEFAULT_CSS = """
    LinesView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    def count_lines(self) -> int:
        """Return how many lines there are at the present width."""
        raise NotImplementedError

    def line_at(self, y: int, width: int) -> Line:
        """Return line `y`, counted from 0."""
        raise NotImplementedError

    def is_cursor_line(self, y: int) -> bool:
        """Return whether line `y` is drawn as the one a person is at."""
        return False

    @property
    def line_width(self) -> int:
        """Cells a line may take."""
        return self.scrollable_content_region.width

    @property
    def line_room(self) -> int:
        """Lines that are visible at once."""
        return self.scrollable_content_region.height

    def lines_changed(self) -> None:
        """Measure and draw again; call after what is shown has changed."""
        self.virtual_size = Size(self.line_width, self.count_lines())
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.lines_changed()

    def render_line(self, y: int) -> Strip:
        width, y = self.line_width, y + self.scroll_offset.y
        line = self.line_at(y, width) if y < self.virtual_size.height else BLANK
        return self.draw(line, width, cursor=self.is_cursor_line(y))

    def scroll_line(self, y: int) -> None:
        """Put line `y` at the top, as far as that goes."""
        # Forced: whether there is a scrollbar is found out later, at the next refresh.
        self.scroll_to(y=max(y, 0), animate=False, force=True)


class TextPane(LinesView):
    """A pane of text that keys scroll."""

    BINDINGS = bindings("text")

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []

    def build(self, width: int) -> list[Line]:
        """Return all lines for this width."""
        raise NotImplementedError

    def count_lines(self) -> int:
        self._lines = self.build(self.line_width) if self.line_width > 0 else []
        return len(self._lines)

    def line_at(self, y: int, width: int) -> Line:
        return self._lines[y] if y < len(self._lines) else BLANK

    def action_scroll_lines(self, lines: int) -> None:
        self.scroll_line(self.scroll_offset.y + lines)

    def action_scroll_pages(self, pages: int) -> None:
        self.scroll_line(self.scroll_offset.y + pages * max(self.line_room - 1, 1))

    def action_scroll_to_end(self, bottom: bool) -> None:
        self.scroll_line(self.virtual_size.height if bottom else 0)
