"""What the screens of all modes have in common: explore, dedup."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, cast

from textual import events
from textual.geometry import Size
from textual.screen import Screen

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import Scope, commands_in
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from kbx_tui.tui.app import KbxApp
    from kbx_tui.tui.app_state import Memory
    from kbx_tui.tui.controller import Controller

A_TURN = 0.001
"""Seconds in which the event loop does whatever else is due."""


@cache
def commands_by_letter(scopes: tuple[Scope, ...]) -> frozenset[str]:
    """Return the actions of `scopes` that letters ask for; tab is none."""
    actions = {one.action.partition("(")[0] for one in commands_in(*scopes)}
    return frozenset(actions - {"next_pane"})


class ModeScreen(Screen[None]):
    """A screen on the open base, with a status line and a key bar."""

    def __init__(self, controller: Controller, memory: Memory) -> None:
        super().__init__()
        self.controller, self.memory = controller, memory
        self.keymap = Keymap()
        self._laid_out: Size | None = None
        """The size that the screen was laid out for."""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Resize):  # not prevented: other screens get the same event
            await self._lay_out()
        else:
            await super().on_event(event)

    async def _lay_out(self) -> None:
        """Take the terminal's size as its width wants it; in between the loop does what is due.

        Textual lays a new size out and draws it, then sets the classes of its width, then does both
        again. The size is the app's: that of an event may be older, as layouts send some as well.
        """
        while (size := self.app.size) != self._laid_out:
            if self._style_for(size.width):
                await asyncio.sleep(A_TURN)
                if size != self.app.size:
                    continue
            self._laid_out = size
            self.fit(size)
            with self.app.batch_update():  # the layout alone: in a batch, drawing is put off
                await super()._on_resize(events.Resize(size, size))
            await asyncio.sleep(A_TURN)

    def _style_for(self, width: int) -> bool:
        """Set the class of this width and return whether it was another."""
        widths = self.app.HORIZONTAL_BREAKPOINTS or []
        fitting = max((one for one in widths if one[0] <= width), default=(0, ""))[1]
        if not fitting or self.has_class(fitting):
            return False
        self.update_classes({name: name == fitting for _, name in widths}, animate=False)
        return True

    def fit(self, size: Size) -> None:
        """Take in that the screen has this size from now on; its width's classes are set."""

    @property
    def _app(self) -> KbxApp:
        return cast("KbxApp", self.app)

    def scopes(self) -> tuple[Scope, ...]:
        """Return whose keys work where the focus is, the nearest first."""
        raise NotImplementedError

    @property
    def palette_scopes(self) -> tuple[Scope, ...]:
        """Return whose commands the palette offers."""
        raise NotImplementedError

    @property
    def is_typing(self) -> bool:
        """Whether the focus is in a field: letters are text there."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Commands wait while something is typed."""
        return not self.is_typing or action not in commands_by_letter(self.palette_scopes)

    def leave_field(self) -> None:
        """Leave what one types in, if one does: letters are commands then."""
        raise NotImplementedError

    def use_keymap(self, keymap: Keymap) -> None:
        """Show these keys in the key bar and the help."""
        self.keymap = keymap
        self.query_one(KeyBar).use(keymap)

    def notice(self, words: str) -> None:
        """Say something for a moment."""
        self.query_one(StatusLine).show_notice(words)

    def action_switch_base(self) -> None:
        self._app.choose_base()

    def action_help(self) -> None:
        self._app.show_help()

    def action_leave(self) -> None:
        self.app.exit()
