"""The line in which the query is typed."""

from __future__ import annotations

from textual.content import Content

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.explore.panes.mode_badge import longest_that_fits
from kbx_tui.tui.widgets.ordered_input import OrderedInput


class QueryLine(OrderedInput):
    """A one-line field with a non-blinking cursor; its border, if any, shows the mode badge."""

    BINDINGS = bindings("query")

    def __init__(self) -> None:
        super().__init__(placeholder="search: a person, a project, any words", compact=True)
        self.cursor_blink = False
        self._badge: tuple[str, ...] = ()

    def show_query(self, query: str) -> None:
        """Put a query into the field, with the cursor at its end."""
        self.value = query
        self.cursor_position = len(query)

    def show_badge(self, candidates: tuple[str, ...]) -> None:
        """Show the longest of these badge texts that fits in the border."""
        self._badge = candidates
        self._fit_badge()

    def on_resize(self) -> None:
        self._fit_badge()

    def _fit_badge(self) -> None:
        text = longest_that_fits(self._badge, max(self.size.width - 2, 0))
        name, dot, rest = text.partition(" · ")
        self.border_subtitle = Content.assemble((name, "bold"), dot + rest)
