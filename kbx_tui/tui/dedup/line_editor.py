"""The uses of the input line of the dedup screen: new drafts, changes of one, a name, a file."""

from __future__ import annotations

from typing import Literal

from textual.screen import Screen

from kbx_tui.editing.state.drafts import Choice
from kbx_tui.tui.dedup.draft_line import PLACEHOLDER, DraftLine
from kbx_tui.tui.dedup.model import ReviewModel

LineUse = Literal["new", "text", "merge", "person", "file"]
LINE_TITLES: dict[LineUse, str] = {
    "new": "new draft",
    "text": "change this draft · enter keeps it, esc leaves it",
    "merge": "merged text · enter accepts, esc cancels",
    "person": "name of the person it is about · enter creates the page, esc leaves it",
    "file": "file of drafts, a line each · tab completes, enter loads it",
}


class LineEditor:
    """The current use of the input line, which decides what submitting its text does."""

    def __init__(self, screen: Screen[None], model: ReviewModel) -> None:
        self._screen, self._model = screen, model
        self.use: LineUse = "new"
        self._draft_id = ""
        """The draft whose text is changed or merged, or whose person is named."""
        self._fact_id = 0
        """The fact that the draft is merged into."""

    @property
    def typed(self) -> str:
        """The text typed so far, unless it is the name of a person or a file."""
        is_name = self.use in ("person", "file")
        return "" if is_name else self._screen.query_one(DraftLine).value.strip()

    def start_text(self, draft_id: str) -> None:
        """Put the text of a draft into the line, to be changed."""
        if (draft := self._model.store.draft(draft_id)) is not None:
            self._draft_id = draft_id
            self._start("text", draft.text)

    def start_merge(self, draft_id: str, fact_id: int, text: str) -> None:
        """Put a text into the line that will replace both a draft and a fact."""
        self._draft_id, self._fact_id = draft_id, fact_id
        self._start("merge", text)

    def start_person(self, draft_id: str) -> None:
        """Let the user type the name of a person who has no page yet."""
        self._draft_id = draft_id
        self._start("person")

    def start_file(self) -> None:
        """Let the user type the name of a file of drafts."""
        self._start("file")

    def reset(self) -> None:
        """Use the line for new drafts again; an unfinished one stays there."""
        if self.use != "new":
            self._start("new")

    def submit(self, text: str) -> bool:
        """Process the text according to the current use; return whether that use has ended."""
        text = text.strip()
        if not text:
            return True
        if self.use == "new":
            self._screen.query_one(DraftLine).value = ""
            self._model.add_line(text)
            return False
        if self.use == "file":
            self._model.load(text)
            return False  # the line stays until the file is loaded: its name may be wrong
        if self.use == "text":
            self._model.rewrite(self._draft_id, text)
        elif self.use == "person":
            self._model.writer.create_page_of(self._draft_id, text)
        else:
            self._model.choose(self._draft_id, Choice("merge", (self._fact_id,), text))
        return True

    def _start(self, use: LineUse, text: str = "") -> None:
        line = self._screen.query_one(DraftLine)
        self.use = use
        line.border_title = LINE_TITLES[use]
        line.placeholder = PLACEHOLDER if use == "new" else ""
        line.show_text(text)
        line.complete_with(self._model.complete_file if use == "file" else None)
        if use != "new":
            self._screen.set_focus(line)
