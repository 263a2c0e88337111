"""The line in which a draft is typed or changed; several lines may be pasted into it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.widgets.path_suggester import Complete, Completing

PLACEHOLDER = "a fact, as it is to be remembered; or paste many lines"


class DraftLine(Input):
    """A one-line field; its cursor does not blink."""

    BINDINGS = bindings("draft_line")

    @dataclass
    class Pasted(Message):
        """Several lines were pasted: each is a draft of its own."""

        text: str

    @dataclass
    class Offered(Message):
        """What would continue the name of a file that is being typed."""

        candidates: tuple[str, ...]

    def __init__(self) -> None:
        super().__init__(placeholder=PLACEHOLDER, compact=True, select_on_focus=False)
        self.cursor_blink = False

    @property
    def completion(self) -> str:
        """What stands behind the cursor to be taken; empty when nothing does."""
        return self._suggestion

    def complete_with(self, complete: Complete | None) -> None:
        """Complete what is typed from now on, as the name of a file; with None, no longer."""
        self.suggester = None if complete is None else Completing(complete, self._offer)
        self._suggestion = ""
        if self.suggester is None:
            self.post_message(self.Offered(()))
        else:  # an empty line asks for nothing by itself
            looking = self.suggester.get_suggestion("")
            self.run_worker(looking, exclusive=True, exit_on_error=False)

    async def action_complete(self) -> None:
        """Take the completion; where there is none, go on to the next pane."""
        before = self.value
        self.cursor_position = len(before)
        self.action_cursor_right()  # at the end, this takes the completion
        if self.value == before:
            await self.run_action("screen.next_pane(1)")

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

    def _offer(self, text: str, candidates: tuple[str, ...]) -> None:
        if self.suggester is not None and text == self.value:
            self.post_message(self.Offered(candidates))
