"""Asks before very many files, or a folder of the system, are indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.shell.question_screen import QuestionScreen
from kbx_tui.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from kbx_tui.index.build.new_files import IndexQuestion


class ConfirmIndexing(QuestionScreen):
    """The number of files, and two answers. Dismissed with whether to index them."""

    def __init__(self, question: IndexQuestion, navigator: Navigator) -> None:
        super().__init__(navigator)
        self.question = question

    def compose(self) -> ComposeResult:
        keep = (
            "nothing is read or written" if self.question.is_first else "the index stays as it is"
        )
        choices = self.answers(
            f"{keep}; the Index mode begins it later",
            "it can be paused and stopped",
            title=f"Index {self.question.count}",
        )
        choices.border_title = "Index all of this?"
        choices.intro = (safe_line(f"{self.question.sentence}."), _advice(self.question))
        with Vertical(id="welcome"):
            yield choices
        yield KeyBar()


def _advice(question: IndexQuestion) -> str:
    if question.folder:
        return "A folder of your own notes is found faster, and holds nothing else."
    return "Files are only read. Words can be searched within seconds, meaning takes longer."
