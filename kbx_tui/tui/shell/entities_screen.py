"""Asks whether tags, hubs and similar topics of notes are to be entities."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.shell.question_screen import QuestionScreen
from kbx_tui.tui.widgets.key_bar import KeyBar


class EntitiesQuestion(QuestionScreen):
    """What could be entities, with counts, and two answers. Dismissed with whether to use it.

    One key answers, unlike where trust is asked for: a yes here can be undone.
    """

    BINDINGS = bindings("question")
    SCOPES = ("question", "welcome", "list", "app")

    def __init__(self, sentence: str, names: Sequence[str], navigator: Navigator) -> None:
        """`sentence` has the counts in words, `names` are lines of names (`EntityProposal`)."""
        super().__init__(navigator)
        self.sentence, self.names = sentence, names

    def compose(self) -> ComposeResult:
        choices = self.answers(
            "not asked again here; kbx init proposes it later",
            "written to kbx.toml; kbx undo takes it back",
            title="Use them as entities",
        )
        choices.border_title = "Entities"
        choices.intro = (
            safe_line(f"{self.sentence}: use them as entities? [y/n]"),
            *map(safe_line, self.names),
        )
        choices.outro = (
            "A search finds entities first, then the notes that belong to them. Each has a card,"
            " and experts ranks them. Notes are not changed.",
        )
        with Vertical(id="welcome"):
            yield choices
        yield KeyBar()

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
