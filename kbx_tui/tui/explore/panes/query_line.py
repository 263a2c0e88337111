"""The line in which the query is typed; it completes filters."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestionReady

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.explore.panes.mode_badge import longest_that_fits
from kbx_tui.tui.widgets.path_input import PathInput


class QueryLine(PathInput):
    """A one-line field with a non-blinking cursor; its border, if any, shows the mode badge."""

    BINDINGS = bindings("query")

    @dataclass
    class Left(Message):
        """The user left the line."""

    def __init__(self) -> None:
        super().__init__("search: a person, a project, any words")
        self._badge: tuple[str, ...] = ()
        self._taken = 0
        """Cells of the border that chips lie over."""

    def show_query(self, query: str) -> None:
        """Put a query into the field, with the cursor at its end."""
        self.value = query
        self.cursor_position = len(query)

    def suggest(self, query: str) -> None:
        """Show inline how the text may go on; nothing if it does not begin like that."""
        if query.startswith(self.value):
            self.post_message(SuggestionReady(self.value, query))

    def show_badge(self, candidates: tuple[str, ...]) -> None:
        """Show the longest of these badge texts that fits in the border."""
        self._badge = candidates
        self._fit_badge()

    def leave_room(self, cells: int) -> None:
        """Leave this much of the border to the chips that lie over it."""
        self._taken = cells
        self._fit_badge()

    def on_resize(self) -> None:
        self._fit_badge()

    def on_blur(self) -> None:
        self.post_message(self.Left())
        self.scroll_to(x=0, animate=False)  # a query that is longer than the field is read, too

    def _fit_badge(self) -> None:
        text = longest_that_fits(self._badge, max(self.size.width - 2 - self._taken, 0))
        name, dot, rest = text.partition(" · ")
        self.border_subtitle = Content.assemble((name, "bold"), dot + rest)
