"""The line in which a draft is typed or changed; several lines may be pasted into it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input

from kbx_tui.tui.bindings import bindings

PLACEHOLDER = "a fact, as it is to be remembered; or paste many lines"


class DraftLine(Input):
    """A one-line field; its cursor does not blink."""

    BINDINGS = bindings("draft_line")

    @dataclass
    class Pasted(Message):
        """Several lines were pasted: each is a draft of its own."""

        text: str

    def __init__(self) -> None:
        super().__init__(placeholder=PLACEHOLDER, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def show_text(self, text: str) -> None:
        """Put a text here to be changed, the cursor behind it."""
        self.value = text
        self.cursor_position = len(text)

    def on_paste(self, event: events.Paste) -> None:
        """Take several lines as drafts; a single one is text like what is typed."""
        if "\n" in event.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(event.text))
