"""A question with two answers that fills the screen."""

from __future__ import annotations

from textual import on
from textual.screen import Screen

from kbx_tui.tui.commands.command import Scope
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.widgets.choice_list import Choice, ChoiceList
from kbx_tui.tui.widgets.key_bar import KeyBar

NO, YES = "no", "yes"


class QuestionScreen(Screen[bool]):
    """Dismissed with whether the user says yes; esc says no. Screens compose what they ask."""

    AUTO_FOCUS = "ChoiceList"
    SCOPES: tuple[Scope, ...] = ("welcome", "list", "app")
    """The scopes of the keys in the key bar."""

    def __init__(self, navigator: Navigator) -> None:
        super().__init__()
        self.navigator = navigator

    def answers(self, no: str, yes: str, *, title: str) -> ChoiceList:
        """Return a list of two answers: what `no` and `yes` lead to; `title` is that of yes."""
        return ChoiceList([Choice(NO, "Not now", no), Choice(YES, title, yes)])

    def on_mount(self) -> None:
        self.query_one(KeyBar).use(self.navigator.keymap)
        self.query_one(KeyBar).show(*self.SCOPES)

    @on(ChoiceList.Chosen)
    def take_choice(self, event: ChoiceList.Chosen) -> None:
        self.dismiss(event.choice.id == YES)

    def action_back(self) -> None:
        self.dismiss(False)

    def action_help(self) -> None:
        self.navigator.show_help()

    def action_leave(self) -> None:
        self.app.exit()
