"""A screen above others that closes once, however many events ask for it."""

from __future__ import annotations

from typing import TypeVar

from textual import getters
from textual.await_complete import AwaitComplete
from textual.screen import Screen

from kbx_tui.tui.terminal_app import TerminalApp

ResultT = TypeVar("ResultT")


class Overlay(Screen[ResultT]):
    app = getters.app(TerminalApp)

    @property
    def is_on_top(self) -> bool:
        return self.app.screen is self

    def dismiss(self, result: ResultT | None = None) -> AwaitComplete:
        """Close, unless it is closed already: Textual would then close the screen below."""
        return super().dismiss(result) if self.is_on_top else AwaitComplete()
