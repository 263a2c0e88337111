"""The app. Imports no engine: the controller loads it after the first paint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.app import App, SystemCommand
from textual.message import Message
from textual.screen import Screen

from kbx_tui.tui.commands import bindings, commands_in
from kbx_tui.tui.controller import DEBOUNCE, Controller
from kbx_tui.tui.engine import OpenEngine
from kbx_tui.tui.screens.explore import Explore
from kbx_tui.tui.styles import stylesheets

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-tiny"), (60, "-narrow"), (110, "-wide")]
"""From how many columns on a screen has which class."""


class KbxApp(App[None]):
    """Explore one knowledge base."""

    TITLE = "kbx"
    CSS_PATH = stylesheets()
    BINDINGS = bindings("app")
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, open_kb: OpenEngine, *, debounce: float = DEBOUNCE) -> None:
        super().__init__()
        self.controller = Controller(open_kb, self._tell, debounce)
        self.explore = Explore(self.controller)

    def get_default_screen(self) -> Screen[None]:
        return self.explore

    def on_mount(self) -> None:
        self.call_after_refresh(self.controller.start)

    async def on_unmount(self) -> None:
        await self.controller.stop()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield from super().get_system_commands(screen)
        for command in commands_in("screen"):
            if command.palette:
                yield SystemCommand(
                    command.label.capitalize(),
                    f"{command.help} ({command.shown})",
                    getattr(self.explore, f"action_{command.action}"),
                )

    def action_help(self) -> None:
        self.explore.action_help()

    def _tell(self, message: Message) -> None:
        self.explore.post_message(message)
