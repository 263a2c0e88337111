"""What screens know of the app: its keys, and the terminal and the programs around it.

`KbxApp` knows the screens, so these do not import it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.geometry import Region

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.keymap import EVERYTHING, Keymap, Offer
from kbx_tui.tui.desktop import copy_text, open_address, open_editor, save_page
from kbx_tui.tui.drawing.legible_colors import legible
from kbx_tui.tui.gc_pauses import CHECK_INTERVAL, IdleCollector, limit_automatic_collection

NO_COLOR_FILTER, GREY_FILTER = NoColor(), Monochrome()


class TerminalApp(App[None]):
    """An app that starts in a given theme and collects garbage while nobody waits."""

    def __init__(self, theme: str, offer: Offer = EVERYTHING) -> None:
        """Start with the theme of this name; for an unknown one, with Textual's default."""
        limit_automatic_collection()
        super().__init__()
        if theme in self.available_themes:
            self._use_first_theme(theme)
        self._first_theme: str | None = self.theme
        """That with which all is styled at first; None once it has been asked for again."""
        self.collector = IdleCollector()
        self._event_loop: asyncio.AbstractEventLoop | None = None
        self.offer = offer
        self.keymap = Keymap(offer=offer)
        """The keys of all commands, as kbx.toml changes them."""
        self.root: Path | None = None
        self.tabs_of_several: dict[str, str] = {}
        """What the tab of several bases counts, by its mode; empty where only one is open."""

    def on_mount(self) -> None:
        self._event_loop = asyncio.get_running_loop()
        self.call_after_refresh(self.set_interval, CHECK_INTERVAL, self.collector.collect_if_idle)
        self.app_resume_signal.subscribe(self, lambda app: self.redraw_screen())

    # Colours.

    def _use_first_theme(self, theme: str) -> None:
        """Use a theme before any style is read: to change it later would style everything twice."""
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)

    def refresh_css(self, animate: bool = True) -> None:
        """Style everything again, except where Textual asks for it with the first theme.

        It does once, before the first paint, although all has just been styled with that theme.
        """
        styled, self._first_theme = self._first_theme, None
        if self.theme != styled:
            super().refresh_css(animate)

    def get_css_variables(self) -> dict[str, str]:
        return legible(super().get_css_variables())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Fit the filter of NO_COLOR to the theme: Textual chooses it before one is remembered.

        That of other themes makes terminal colours black on black.
        """
        colorless = NO_COLOR_FILTER if self.native_ansi_color else GREY_FILTER
        return [
            colorless if isinstance(each, NoColor | Monochrome) else each
            for each in super().get_line_filters()
        ]

    # The terminal, and events before any screen sees them.

    def get_driver_class(self) -> type[Driver]:
        kind = super().get_driver_class()
        if sys.platform != "win32" and kind.__name__ == "LinuxDriver":
            from kbx_tui.tui.terminal_driver import TerminalDriver

            return TerminalDriver
        return kind

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent | events.Paste | events.Resize):
            self.collector.note_activity()
        if isinstance(event, events.Paste):  # a clipboard may hold control characters
            lines = map(safe_line, event.text.strip().splitlines())
            keeps_lines = getattr(self.focused, "KEEPS_LINES", False)  # most hold a single line
            event.text = ("\n" if keeps_lines else " ").join(lines)
        await super().on_event(event)

    def stop_from_thread(self) -> bool:
        """Leave the app, from any thread; return False if it is not running yet."""
        if self._event_loop is None:
            return False
        self._event_loop.call_soon_threadsafe(self.exit)
        return True

    def redraw_screen(self) -> None:
        """Draw every cell again: another program has used the terminal, or it is another one.

        Draws nothing while the app ends: its screens are gone, and a timer may still ask for it.
        """
        if self.screen_stack:
            self.screen.refresh(Region(0, 0, *self.size))

    # Other programs. In a browser, `VisitorApp` does without them.

    async def copy(self, name: str, text: str) -> str:
        """Copy a text called `name`; return a sentence that says where it is, or why nowhere."""
        self.copy_to_clipboard(text)  # also where a program takes it: only the terminal is always
        return await asyncio.to_thread(copy_text, name, text, os.environ)  # on the user's machine

    async def save_page(self, query: str, page: str) -> str:
        """Save a page of results, and return in words where it is. Raises WriteFault."""
        return await asyncio.to_thread(save_page, query, page, self.root)

    async def edit(self, file: Path, line: int) -> str:
        return open_editor(self, file, line, no_color=self.no_color)

    def open_beside(self, address: str) -> str:
        return open_address(address)

    def leave_base(self, target: str) -> str:
        return f"{target} leads to no page of this knowledge base"


NAMES = (
    "looks",
    "frame",
    "explore",
    "reading",
    "dedup",
    "experts",
    "tune",
    "indexing",
    "why_not",
    "recall",
    "comparing",
    "blind",
    "help",
    "welcome",
    "together",
)
PACKAGE = Path(__file__).parent.parent


def styles_folder(package: Path = PACKAGE) -> Path:
    packaged = package / "styles"
    return packaged if packaged.is_dir() else package.parent / "styles"


def stylesheets() -> list[str | PurePath]:
    return [styles_folder() / f"{name}.tcss" for name in NAMES]
