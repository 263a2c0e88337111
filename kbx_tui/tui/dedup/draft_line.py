"""The line in which a draft is typed or changed, or several are pasted."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.widgets.path_input import PathInput

PLACEHOLDER = "a fact to remember; or paste several lines"


class DraftLine(PathInput):
    """A one-line field for a draft, or for the name of a file of drafts."""

    BINDINGS = bindings("draft_line")

    @dataclass
    class Pasted(Message):
        """Several lines were pasted, each a draft of its own."""

        text: str

    def __init__(self) -> None:
        super().__init__(PLACEHOLDER, select_on_focus=False)

    def show_text(self, text: str) -> None:
        """Put a text into the field, with the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)

    def on_paste(self, event: events.Paste) -> None:
        """Post several pasted lines as drafts; a single line is inserted like typed text."""
        if "\n" in event.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(event.text))
