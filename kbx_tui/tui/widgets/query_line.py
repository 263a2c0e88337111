"""The line a person types the query into."""

from __future__ import annotations

from textual.widgets import Input

from kbx_tui.tui.commands import bindings


class QueryLine(Input):
    """A one-line field; its cursor does not blink."""

    BINDINGS = bindings("query")

    def __init__(self) -> None:
        super().__init__(placeholder="search: a person, a project, words", compact=True)
        self.cursor_blink = False
