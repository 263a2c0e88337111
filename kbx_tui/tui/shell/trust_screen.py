"""Asks whether a base may do what its kbx.toml asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.widgets.choice_list import Choice, ChoiceList
from kbx_tui.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from kbx_tui.trust.trust_requests import TrustRequest

NO, YES = "no", "yes"


class TrustQuestion(Screen[bool]):
    """What the base asks for, and two answers. Dismissed with whether the user allows it.

    What it asks for scrolls by itself, so that the answers stay visible.
    """

    AUTO_FOCUS = "ChoiceList"

    def __init__(self, root: str, requests: Sequence[TrustRequest], navigator: Navigator) -> None:
        super().__init__()
        self.root, self.requests, self.navigator = root, tuple(requests), navigator

    def compose(self) -> ComposeResult:
        blocks = any(request.blocks for request in self.requests)
        missing = " and ".join(filter(None, (request.without for request in self.requests)))
        without = "it stays closed" if blocks else f"all else works; {missing}"
        with Vertical(id="trust"):
            with VerticalScroll(id="requests"):
                yield Static(Content("\n\n".join(self._paragraphs())))
            yield ChoiceList(
                [
                    Choice(NO, "Not now", without),
                    Choice(YES, "Allow it", "until its kbx.toml asks for something else"),
                ]
            )
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#requests").border_title = "Trust this knowledge base?"
        self.query_one(KeyBar).use(self.navigator.keymap)
        self.query_one(KeyBar).show("welcome", "list", "app")

    def _paragraphs(self) -> Iterator[str]:
        root = safe_line(self.root)
        yield f"{root} was not made here, and asks for more than searching needs:"
        for request in self.requests:
            yield safe_line(f"{request.wish}: it {request.effect}")

    @on(ChoiceList.Chosen)
    def take_choice(self, event: ChoiceList.Chosen) -> None:
        self.dismiss(event.choice.id == YES)

    def action_back(self) -> None:
        self.dismiss(False)

    def action_help(self) -> None:
        self.navigator.show_help()

    def action_leave(self) -> None:
        self.app.exit()
