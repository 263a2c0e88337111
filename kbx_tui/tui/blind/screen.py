"""Which list answers better? Asked without saying which settings gave which."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from kbx_tui.formatting import format_count
from kbx_tui.tui.blind.messages import Asked, Looked, NothingLeft
from kbx_tui.tui.blind.model import BlindModel
from kbx_tui.tui.blind.two_lists import TwoLists
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.cell_text import longest_fitting
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.judging.preference_step import vote_sentences
from kbx_tui.tui.widgets.line_widget import LineWidget
from kbx_tui.tui.widgets.lines_view import dim_text, titled_text

BOX = 150
"""Width of the box in cells, where there is room, as in `styles/blind.tcss`."""


class BlindLine(LineWidget):
    """What has been answered, and where the round is."""

    text = ""

    def show(self, text: str) -> None:
        """Show a text."""
        self.text = text
        self.refresh()

    def line(self, width: int) -> Line:
        return (Span(f" {self.text}", "dim"),)


class BlindScreen(ModalScreen[None]):
    """An overlay with one question after the other."""

    BINDINGS = bindings("blind")
    AUTO_FOCUS = "TwoLists"

    def __init__(self, model: BlindModel, keymap: Keymap) -> None:
        super().__init__()
        self.model, self.keymap = model, keymap
        self._is_over = False
        """Whether there is nothing left to ask."""

    def compose(self) -> ComposeResult:
        with Vertical(id="blind"):
            yield TwoLists()
            yield BlindLine()

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self._show_text("Which list answers better?", "Looking for a query on which they differ …")
        self.model.start()

    def on_unmount(self) -> None:
        self.model.stop()

    def on_resize(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        """Show the keys that work: those of an answer while there is a question."""
        first, second, neither, later, undo, close = (
            self.keymap.key_of(f"blind.{name}")
            for name in ("first", "second", "neither", "later", "undo", "close")
        )
        answers = (
            f"{first} list 1 · {second} list 2 · {neither} neither · {later} later · {undo} undo ·"
            f" {close} close",
            f"{first} · {second} · {neither} neither · {later} later · {undo} · {close}",
            f"{first} · {second} · {neither} · {close}",
        )
        wordings = (f"{undo} undo · {close} close",) if self._is_over else answers
        room = min(self.size.width, BOX) - 6
        self._box.border_subtitle = Content(longest_fitting(wordings, room))

    @property
    def _box(self) -> Vertical:
        return self.query_one("#blind", Vertical)

    def _show_text(self, title: str, *texts: str) -> None:
        lists = self.query_one(TwoLists)
        lists.empty_state = titled_text(title, *texts) if texts else dim_text(title)
        lists.show(None)

    # What the model found.

    def on_asked(self, message: Asked) -> None:
        question, self._is_over = message.question, False
        self._show_keys()
        self._box.border_title = Content(f"Which list answers better: “{question.text}”")
        self.query_one(TwoLists).show(question)
        self.query_one(BlindLine).show(self._progress)

    def on_looked(self, message: Looked) -> None:
        self.query_one(BlindLine).show(
            f"{self._progress}; looking at query {message.done + 1:,} of {message.total:,}"
        )

    def on_nothing_left(self, message: NothingLeft) -> None:
        self._box.border_title, self._is_over = "No further question", True
        self._show_keys()
        if message.queries:
            looked = format_count(message.queries, "query")
            why = (
                f"In {looked}, judged or asked before, the first results of A and of the current"
                " settings are the same, or you have said which you prefer."
            )
        else:
            why = "No query is judged or was asked before. Ask one in explore first."
        self._show_text("That is all.", why, *vote_sentences(message.votes))
        self.query_one(BlindLine).show(self._progress)

    @property
    def _progress(self) -> str:
        return f"{format_count(self.model.answered, 'answer')} in this round"

    # What the user does.

    def action_prefer(self, better: str) -> None:
        if self.model.question is not None:
            self._show_text("Looking for the next query on which they differ …")
            self.model.answer(better)  # type: ignore[arg-type]

    def action_later(self) -> None:
        self.model.skip()

    def action_undo(self) -> None:
        if not self.model.undo():
            self.query_one(BlindLine).show("nothing to undo in this round")

    def action_close(self) -> None:
        self.dismiss(None)
