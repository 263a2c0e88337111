"""The app. Imports no engine: the controller loads it after the first paint."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App, SuspendNotSupported, SystemCommand
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen

from kbx_tui.errors import ConfigError
from kbx_tui.log_file import logger
from kbx_tui.safe_text import visible
from kbx_tui.tui.app_state import Memory
from kbx_tui.tui.bases import Bases, LocalBases
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import commands_in
from kbx_tui.tui.controller import DEBOUNCE, Controller
from kbx_tui.tui.dedup.draft_line import DraftLine
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.editor import edit_command, editor_command
from kbx_tui.tui.experts.screen import Experts
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.explore.view import BaseSummary
from kbx_tui.tui.gc_pauses import LOOKS, Sweeper, make_calm
from kbx_tui.tui.messages import (
    Configured,
    ExpertsReady,
    Failed,
    Indexing,
    Noticed,
    PlanShown,
    Reviewed,
    Typed,
    Writing,
)
from kbx_tui.tui.shell.mode_screen import ModeScreen
from kbx_tui.tui.shell.welcome_screen import Welcome
from kbx_tui.tui.stylesheets import stylesheets

WIDTHS: list[tuple[int, str]] | None = [(0, "-small"), (80, "-narrow"), (110, "-wide")]
"""From how many columns on a screen has which class."""
MODES: dict[str, type[Dedup | Experts]] = {"dedup": Dedup, "experts": Experts}
"""The modes that lie above explore while they are used."""
ENDING = [one for name in ("SIGTERM", "SIGHUP") if (one := getattr(signal, name, None)) is not None]
"""Signals after which the terminal is given back as it was."""


class KbxApp(App[None]):
    """Explore a knowledge base; without one, ask which."""

    TITLE = "kbx"
    CSS_PATH = stylesheets()
    BINDINGS = bindings("app")
    HORIZONTAL_BREAKPOINTS = WIDTHS

    def __init__(
        self,
        root: Path | None,
        *,
        bases: Bases | None = None,
        why: str = "",
        drafts: Path | None = None,
        debounce: float = DEBOUNCE,
    ) -> None:
        """Open the base at `root`; with None, let a person choose, and say `why` there is none.

        `drafts` is a file of drafts to begin with, in the dedup mode.
        """
        super().__init__()
        self._drafts = drafts
        self.bases = bases or LocalBases()
        self.memory = Memory()
        self._debounce = debounce
        self.keymap = Keymap()
        self.explore: Explore | None = None
        """The screen of the base that is open."""
        self._sweeper = Sweeper()
        self.ended_by = 0
        """The signal that ended the app; 0 when a person did."""
        self._first: Screen[Any]
        if root is None:
            self._first = Welcome(self.bases, self.memory, why=why)
        else:
            self._first = self.explore = self._explore(root)

    def on_mount(self) -> None:
        make_calm()
        self.set_interval(LOOKS, self._sweeper.sweep)
        self._end_on_signals()
        self.push_screen(self._first)  # the default screen cannot be switched for another
        if self.memory.user.theme in self.available_themes:
            self.theme = self.memory.user.theme
        self.theme_changed_signal.subscribe(self, lambda theme: self._remember_theme())
        self.app_resume_signal.subscribe(self, lambda app: self._draw_all())
        if self.explore is not None:
            self.call_after_refresh(self.explore.controller.start)
            if self._drafts is not None:
                self.call_after_refresh(self._review, self._drafts)

    async def _review(self, drafts: Path) -> None:
        await self.go_to("dedup")
        if self.explore is not None:
            self.explore.controller.reviewing.load(str(drafts))

    def _end_on_signals(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or a thread
            for one in ENDING:
                asyncio.get_running_loop().add_signal_handler(one, self._end_by, one)

    def _end_by(self, number: int) -> None:
        self.ended_by = number
        self.exit()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent | events.Paste | events.Resize):
            self._sweeper.stir()
        if isinstance(event, events.Paste):  # a clipboard may hold what acts on a terminal
            lines = map(visible, event.text.strip().splitlines())
            many = isinstance(self.focused, DraftLine)  # elsewhere a line is all there can be
            event.text = ("\n" if many else " ").join(lines)
        await super().on_event(event)

    async def on_unmount(self) -> None:
        await self._leave_base()

    # Bases.

    @property
    def explore_summary(self) -> BaseSummary | None:
        """What is known of the base that is open."""
        return self.explore.summary if self.explore is not None else None

    async def go_to(self, mode: str) -> None:
        """Show another mode of the base that is open."""
        if self.explore is None or not isinstance(self.screen, ModeScreen):
            return  # nothing is open, or something lies above
        kind = MODES.get(mode)
        if kind is not None and isinstance(self.screen, kind):
            return
        while self.screen is not self.explore:
            await self.pop_screen()
        if kind is not None:
            screen = kind(self.explore.controller, self.memory)
            screen.keymap = self.keymap
            await self.push_screen(screen)

    async def action_go_to(self, mode: str) -> None:
        await self.go_to(mode)

    async def open_base(self, root: Path) -> None:
        """Leave the base that is open, and open another."""
        await self.go_to("explore")
        await self._leave_base()
        self.memory.leave_base()
        self.explore = explore = self._explore(root)
        await self.switch_screen(explore)
        self.call_after_refresh(explore.controller.start)

    def choose_base(self) -> None:
        """Ask which base to open."""
        self.push_screen(Welcome(self.bases, self.memory, leaving=True), self._open_chosen)

    async def _open_chosen(self, root: Path | None) -> None:
        if root is not None:
            await self.open_base(root)

    def _explore(self, root: Path) -> Explore:
        def tell(message: Message) -> None:
            if isinstance(message, Configured):  # the first word from a base that could be opened
                self.memory.open_base(root)
                self._configure(message)
            else:
                self._tell(message)

        controller = Controller(partial(self.bases.open, root), tell, self._debounce)
        return Explore(controller, self.memory)

    def _tell(self, message: Message) -> None:
        """Hand what the controller tells to the screen it is for."""
        self._sweeper.stir()  # an answer is about to be drawn
        mode = next((one for one in self.screen_stack if isinstance(one, Dedup | Experts)), None)
        if isinstance(message, ExpertsReady | Reviewed | Typed | PlanShown | Writing):
            target: Screen[Any] | None = mode
        elif mode is not None and isinstance(message, Noticed | Failed):
            target = mode
        else:
            target = self.explore
            if mode is not None and isinstance(message, Indexing):
                mode.post_message(Indexing(message.text))
        if target is not None:
            target.post_message(message)

    async def _leave_base(self) -> None:
        if self.explore is None:
            return
        controller, base = self.explore.controller, self.memory.base
        await controller.stop()
        if self.explore.summary is None:  # never opened: nothing to remember
            return
        base.alpha = controller.asking.alpha if self.explore.remembers_knobs else None
        base.threshold = controller.asking.threshold if self.explore.remembers_knobs else None
        self.memory.remember_query(controller.asking.query)
        self.memory.write_base()

    def _configure(self, message: Configured) -> None:
        """Take what kbx.toml says for the app; keys it has wrong leave all keys as they were."""
        if self.explore is None:
            return
        self.explore.remembers_knobs = message.remember_knobs
        base = self.memory.base
        if message.remember_knobs and base.alpha is not None and base.threshold is not None:
            self.explore.controller.restore(base.alpha, base.threshold)
        try:
            self.keymap = Keymap(message.keys)
        except ConfigError as error:
            self.keymap = Keymap()
            self._tell(Failed(visible(str(error))))
        self.set_keymap(self.keymap.changes)
        self.explore.use_keymap(self.keymap)

    # What the screens ask for.

    def show_help(self) -> None:
        """Show the keys that work where the focus is."""
        from kbx_tui.tui.shell.help_screen import Help

        self.push_screen(Help(self.screen, self.keymap))

    def pick_entity(self, picked: Callable[[str], None]) -> None:
        """Let a person name an entity; `picked` hears its id."""
        from kbx_tui.tui.commands.entity_picker import entity_palette

        if self.explore is not None:
            self.push_screen(entity_palette(self.explore.controller.find_entities, picked))

    async def edit(self, root: str, path: str, line: int) -> None:
        """Open a document in the person's editor and wait for its return."""
        editor = editor_command(os.environ)
        if not editor:
            self._notice("no editor is set: `export EDITOR=nano`, then start kbx again")
            return
        command = edit_command(editor, Path(root) / path, line)
        environment = os.environ | ({"NO_COLOR": "1"} if self.no_color else {})
        try:
            with self.suspend():
                subprocess.run(command, env=environment, check=False)
        except SuspendNotSupported:
            self._notice("an editor cannot be opened in this terminal")
        except OSError as error:
            logger().warning("%s: %s", command, error)
            self._notice(f"{editor[0]} cannot be started: {error.strerror or error}")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)
        yield SystemCommand("Screenshot", "save the screen as SVG", self.deliver_screenshot)
        if isinstance(screen, ModeScreen):
            for command in commands_in(*screen.palette_scopes):
                if command.palette:
                    yield SystemCommand(
                        command.label.capitalize(),
                        f"{command.help} ({self.keymap.shown(command)})",
                        partial(self._run, screen, command.action),
                    )
        yield SystemCommand("Quit", "leave the app", self.action_quit)

    async def _run(self, screen: ModeScreen, action: str) -> None:
        """Do what a key would do outside the fields: the palette opens from them as well."""
        screen.leave_field()
        await screen.run_action(action)

    def action_help_quit(self) -> None:
        """Ctrl+c does not end the app: in a field it copies, and people press it for that."""
        keys = " or ".join(
            self.keymap.in_bar(command)
            for command in commands_in("mode", "app")
            if command.label == "quit"
        )
        self._notice(f"{keys} leaves the app")

    def _notice(self, words: str) -> None:
        self._tell(Noticed(words))

    def _draw_all(self) -> None:
        """Draw every cell: another program had the terminal."""
        self.screen.refresh(Region(0, 0, *self.size))

    def _remember_theme(self) -> None:
        self.memory.remember_theme(self.theme)
