"""The pane of what optimising offers, and of the change of kbx.toml: enter accepts it."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import Line, looks
from kbx_tui.tui.widgets.lines_view import TextPane, blank

Content = Callable[[int], list[Line]]
"""Returns the lines of the pane, given its width."""


class DecisionPane(TextPane):
    """A text with a decision."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule", "bad")
    BINDINGS = bindings("decision", "text")

    class Accepted(Message):
        """The user accepts what the pane shows."""

    class Closed(Message):
        """The user leaves things as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.content: Content = blank

    def show(self, title: str, content: Content) -> None:
        """Show a text."""
        self.border_title, self.content = title, content
        self.rebuild_lines()

    def build(self, width: int) -> list[Line]:
        return self.content(width)

    def action_accept(self) -> None:
        self.post_message(self.Accepted())

    def action_close(self) -> None:
        self.post_message(self.Closed())
