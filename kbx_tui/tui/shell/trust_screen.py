"""Asks whether a base may do what its kbx.toml asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.shell.question_screen import QuestionScreen
from kbx_tui.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from kbx_tui.trust.trust_requests import TrustRequest


class TrustQuestion(QuestionScreen):
    """What the base asks for, and two answers. Dismissed with whether the user allows it.

    What it asks for scrolls by itself, so that the answers stay visible.
    """

    def __init__(self, root: str, requests: Sequence[TrustRequest], navigator: Navigator) -> None:
        super().__init__(navigator)
        self.root, self.requests = root, tuple(requests)

    def compose(self) -> ComposeResult:
        blocks = any(request.blocks for request in self.requests)
        missing = " and ".join(filter(None, (request.without for request in self.requests)))
        without = "it stays closed" if blocks else f"all else works; {missing}"
        with Vertical(id="trust"):
            with VerticalScroll(id="requests") as asked:
                asked.border_title = "Trust this knowledge base?"
                yield Static(Content("\n\n".join(self._paragraphs())))
            yield self.answers(
                without, "until its kbx.toml asks for something else", title="Allow it"
            )
        yield KeyBar()

    def _paragraphs(self) -> Iterator[str]:
        root = safe_line(self.root)
        yield f"{root} was not made here, and asks for more than searching needs:"
        for request in self.requests:
            yield safe_line(f"{request.wish}: it {request.effect}")
