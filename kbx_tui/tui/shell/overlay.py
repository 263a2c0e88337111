"""Screens above others, each closed once, however many events ask for it; the last look at what
would be written, which one key confirms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from textual import getters
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.content import Content
from textual.screen import ModalScreen, Screen

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import BLANK, Span, diff_look, looks, wrap
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.lines_view import TextPane

ResultT = TypeVar("ResultT")


class Overlay(Screen[ResultT]):
    app = getters.app(TerminalApp)

    @property
    def is_on_top(self) -> bool:
        return self.app.screen is self

    def dismiss(self, result: ResultT | None = None) -> AwaitComplete:
        """Close, unless it is closed already: Textual would then close the screen below."""
        return super().dismiss(result) if self.is_on_top else AwaitComplete()


class Confirm(ModalScreen[bool], Overlay[bool]):
    """Shows sentences and a diff. Dismissed with whether to write it."""

    BINDINGS = bindings("saving")

    def __init__(
        self, title: str, diff: Sequence[str], sentences: Sequence[str] = (), does: str = "writes"
    ) -> None:
        """`does` is what the key that confirms it does."""
        super().__init__()
        self._does = does
        self.pane = ConfirmText(
            lambda width: [
                *((Span(f" {row}"),) for text in sentences for row in wrap(text, width - 1)),
                *([BLANK] if sentences and diff else []),
                *(
                    (Span(f" {row}", diff_look(line)),)
                    for line in diff
                    for row in wrap("" if line.startswith("@@") else line, max(width - 1, 8))
                ),
            ]
        )
        self.pane.border_title = Content(title)

    def compose(self) -> ComposeResult:
        key_of = self.app.keymap.key_of
        self.pane.border_subtitle = (
            f"{key_of('save.write')} {self._does} ·"
            f" {key_of('save.cancel')} leaves everything as it is"
        )
        yield self.pane

    def action_write(self) -> None:
        self.dismiss(True)

    def action_cancel(self) -> None:
        self.dismiss(False)


class ConfirmText(TextPane):
    COMPONENT_CLASSES = looks("entity", "bad", "rule")
