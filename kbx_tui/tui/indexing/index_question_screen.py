"""Asks before very many files, or a folder of the system, are indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.widgets.choice_list import Choice, ChoiceList
from kbx_tui.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from kbx_tui.index.build.new_files import IndexQuestion

NO, YES = "no", "yes"


class ConfirmIndexing(Screen[bool]):
    """The number of files, and two answers. Dismissed with whether to index them."""

    AUTO_FOCUS = "ChoiceList"

    def __init__(self, question: IndexQuestion, navigator: Navigator) -> None:
        super().__init__()
        self.question, self.navigator = question, navigator

    def compose(self) -> ComposeResult:
        keep = (
            "nothing is read or written" if self.question.is_first else "the index stays as it is"
        )
        with Vertical(id="welcome"):
            yield ChoiceList(
                [
                    Choice(NO, "Not now", f"{keep}; the Index mode begins it later"),
                    Choice(YES, f"Index {self.question.count}", "it can be paused and stopped"),
                ]
            )
        yield KeyBar()

    def on_mount(self) -> None:
        choices = self.query_one(ChoiceList)
        choices.border_title = "Index all of this?"
        choices.intro = (safe_line(f"{self.question.sentence}."), _advice(self.question))
        choices.rebuild_lines()
        self.query_one(KeyBar).use(self.navigator.keymap)
        self.query_one(KeyBar).show("welcome", "list", "app")

    @on(ChoiceList.Chosen)
    def take_choice(self, event: ChoiceList.Chosen) -> None:
        self.dismiss(event.choice.id == YES)

    def action_back(self) -> None:
        self.dismiss(False)

    def action_help(self) -> None:
        self.navigator.show_help()

    def action_leave(self) -> None:
        self.app.exit()


def _advice(question: IndexQuestion) -> str:
    if question.folder:
        return "A folder of your own notes is found faster, and holds nothing else."
    return "Files are only read. Words can be searched within seconds, meaning takes longer."
