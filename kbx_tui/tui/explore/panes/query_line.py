"""The line a person types the query into."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Input

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.explore.panes.mode_badge import choose


class QueryLine(Input):
    """A one-line field; its cursor does not blink. With a border, that holds the badge."""

    BINDINGS = bindings("query")

    def __init__(self) -> None:
        super().__init__(placeholder="search: a person, a project, words", compact=True)
        self.cursor_blink = False
        self._badge: tuple[str, ...] = ()

    def show_query(self, query: str) -> None:
        """Show a query that was not typed, the cursor behind it."""
        self.value = query
        self.cursor_position = len(query)

    def show_badge(self, candidates: tuple[str, ...]) -> None:
        """Say what kind of search this was in the border, as long as fits."""
        self._badge = candidates
        self._fit_badge()

    def on_resize(self) -> None:
        self._fit_badge()

    def _fit_badge(self) -> None:
        name, dot, rest = choose(self._badge, max(self.size.width - 2, 0)).partition(" · ")
        self.border_subtitle = Content.assemble((name, "bold"), dot + rest)
