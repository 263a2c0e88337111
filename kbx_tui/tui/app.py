"""The app on one knowledge base, or on several.

Imports no engine: a session opens it after the first paint.

The modes on top of explore, and the boxes over it, are imported when one is first opened.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual import events
from textual.app import SystemCommand
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme

from kbx_tui.ending import end_soon
from kbx_tui.errors import ConfigError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.bases import Bases
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import EVERYTHING, Keymap, Offer
from kbx_tui.tui.desktop import open_address, open_editor, save_page
from kbx_tui.tui.explore.model import DEBOUNCE_SECONDS
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.shell.frame_screen import FrameScreen, ModeScreen
from kbx_tui.tui.shell.messages import Failure, IndexProgress, Notice
from kbx_tui.tui.shell.questions import BaseQuestions
from kbx_tui.tui.terminal_app import TerminalApp, stylesheets

if TYPE_CHECKING:
    from kbx_tui.config import Settings
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.tui.engine.client import OpenEngine
    from kbx_tui.tui.navigator import Navigator
    from kbx_tui.tui.shell.welcome_screen import Welcome
    from kbx_tui.tui.together.screen import Together


class OverlayApp(TerminalApp):
    """An app with boxes, each imported when it is first shown; those over explore need a base.

    The methods are those of `Navigator`, where they are described.
    """

    def __init__(self, theme: str, offer: Offer) -> None:
        super().__init__(theme)
        self.offer = offer
        self.keymap = Keymap(offer=offer)
        self.explore: Explore | None = None
        """The explore screen of the open base."""

    def show_help(self) -> None:
        from kbx_tui.tui.shell.help_screen import Help

        self.push_screen(Help(self.screen, self.keymap))

    def action_help(self) -> None:
        self.show_help()

    def pick_entity(self, pick: Callable[[str], None]) -> None:
        from kbx_tui.tui.commands.entity_picker import entity_palette

        if self.explore is not None:
            self.push_screen(entity_palette(self.explore.model.find_entities, pick))

    def pick_folders(self) -> None:
        from kbx_tui.tui.indexing.folder_list import FolderPicker

        if self.explore is not None:
            self.push_screen(FolderPicker(self.explore.session.index, self.keymap))

    def ask_blind(self, before: Tuning, after: Tuning) -> None:
        from kbx_tui.tui.judging.blind import BlindModel, BlindScreen

        if self.explore is not None:
            session, query = self.explore.session, self.explore.model.state.query
            model = BlindModel(session.client, session.judging, query, (before, after))
            self.push_screen(BlindScreen(model, self.keymap))

    # The palette.

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)
        yield SystemCommand("Screenshot", "save the screen as SVG", self.deliver_screenshot)
        if isinstance(screen, FrameScreen):
            for command in self.keymap.commands_in(*screen.palette_scopes, "app"):
                if command.palette:
                    target: OverlayApp | FrameScreen = self if command.scope == "app" else screen
                    yield SystemCommand(
                        command.label.capitalize(),
                        f"{command.help} ({self.keymap.display_keys(command)})",
                        partial(self._run_command, screen, target, command.action),
                    )
        yield SystemCommand("Quit", "leave the app", self.action_quit)

    async def _run_command(
        self, screen: FrameScreen, target: OverlayApp | FrameScreen, action: str
    ) -> None:
        """Run an action as its key does outside fields, even if the palette was opened in one."""
        screen.leave_field()
        await target.run_action(action)


TourWish = Literal["no", "first", "always"]
WIDTH_CLASSES: list[tuple[int, str]] | None = [(0, "-small"), (80, "-narrow"), (110, "-wide")]
"""Minimum width of a screen in columns, and the class it then has."""


class KbxApp(OverlayApp):
    """The app on one knowledge base; without one, it asks which to open.

    Screens know it as a `Navigator`, the session of the open base as its `SessionHost`.
    """

    TITLE = "kbx"
    CSS_PATH = stylesheets()
    BINDINGS = bindings("app")
    HORIZONTAL_BREAKPOINTS = WIDTH_CLASSES

    def __init__(
        self,
        root: Path | None,
        *,
        together: Sequence[Path] = (),
        bases: Bases | None = None,
        why: str = "",
        drafts: Path | None = None,
        trust: bool = False,
        tour: TourWish = "no",
        debounce: float = DEBOUNCE_SECONDS,
        app_state: AppState | None = None,
        offer: Offer = EVERYTHING,
    ) -> None:
        """Open the base at `root`; with None, let the user choose one, and say `why`.

        `together` are the roots of several bases to search together, in place of `root`. `drafts`
        is a file of drafts to start with, in the dedup mode. `trust` allows those bases everything
        their kbx.toml asks for. `tour` shows the tour: always, or `first`: once per user.
        `app_state` is by default that of the user; `offer` says which commands there are.
        """
        self.app_state = app_state or AppState()
        super().__init__(self.app_state.user.theme, offer)
        self._drafts = drafts
        self.bases = bases or Bases(trusted=(root, *together) if trust else ())
        self._questions = BaseQuestions(
            self, self, self.bases, show_error=self.show_error, on_trust=self._open_trusted
        )
        self._debounce = debounce
        self._root: Path | None = None
        self._first: Screen[Any]
        self.together: Together | None = None
        """The search of several bases, if the app was opened on several."""
        if together:
            self._first = self.together = self._make_together(together)
        elif root is None:
            self._first = self._welcome(why=why)
        else:
            self._first = self.explore = self._make_explore(root)
            seen = self.app_state.user.tour_seen
            self.explore.tour.is_wanted = tour == "always" or (tour == "first" and not seen)

    def on_mount(self) -> None:
        self.set_keymap(self.keymap.changes)
        if self.together is not None:
            self.install_screen(self.together, "together")  # it stays while one base is open
        self.push_screen(self._first)  # the default screen cannot be switched for another
        first = self.theme

        def remember(theme: Theme) -> None:
            # It is published at the start, too.
            if theme.name != first or self.app_state.user.theme:
                self.app_state.remember_theme(theme.name)

        self.theme_changed_signal.subscribe(self, remember)
        if self.explore is not None:
            self.call_after_refresh(self.explore.session.start)
            if self._drafts is not None:
                self.call_after_refresh(self._open_drafts, self.explore.session, self._drafts)

    async def _open_drafts(self, session: BaseSession, drafts: Path) -> None:
        await self.go_to("dedup")
        session.review.load(str(drafts))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            explore = self.explore if self.screen is self.explore else None
            if explore is not None and explore.tour.is_shown and explore.tour.take_key(event.key):
                return
            if reason := self._refusal(event.key):
                self.show_notice(reason)
                return
        await super().on_event(event)

    def _refusal(self, key: str) -> str:
        """Return why the command that a key would run now is not offered; empty for others."""
        if not self.offer.refused:
            return ""
        active = self.screen.active_bindings.get(key)
        return self.keymap.refusal(active.binding.id or "") if active is not None else ""

    async def on_unmount(self) -> None:
        end_soon(self.return_code or 0)
        await self._close_base()
        if self.together is not None:
            await self.together.model.stop()

    # The open base.

    def _make_explore(self, root: Path) -> Explore:
        self._root = root
        session = BaseSession(
            partial(self.bases.open, root, self._notice_of_engine),
            self,
            writes=self.bases.writes,
            debounce=self._debounce,
            on_answer=self.collector.note_activity,  # it is about to be drawn
        )
        return Explore(session, self.app_state, self)

    async def open_base(self, root: Path) -> None:
        await self._leave_base()
        self.explore = explore = self._make_explore(root)
        await self.switch_screen(explore)
        self.call_after_refresh(explore.session.start)

    async def _leave_base(self) -> None:
        """Close the open base, if any; its explore screen is left to be switched for another."""
        if self.explore is not None:
            await self.go_to("explore")
            await self._close_base()
            self.app_state.close_base()
            self.explore = None

    # Several bases.

    def _make_together(self, roots: Sequence[Path]) -> Together:
        from kbx_tui.api.several_bases import base_names
        from kbx_tui.tui.together.model import TogetherModel
        from kbx_tui.tui.together.screen import Together

        def opener(root: Path) -> OpenEngine:
            return partial(self.bases.open, root)

        self.app_state.note_bases(roots)
        model = TogetherModel(
            base_names(roots), opener, writes=self.bases.writes, debounce=self._debounce
        )
        return Together(model, self)

    @property
    def tabs_of_several(self) -> Mapping[str, str]:
        together = self.together
        return {} if together is None else {"together": f"({len(together.model.bases)})"}

    async def search_together(self) -> None:
        if self.together is None:
            self.show_notice("one base is open: `kbx --kb FOLDER --kb FOLDER` searches several")
        elif isinstance(self.screen, FrameScreen) and self.screen is not self.together:
            await self._leave_base()
            await self.switch_screen(self.together)

    async def action_search_together(self) -> None:
        await self.search_together()

    async def open_alone(self, root: Path, query: str = "", path: str = "") -> None:
        await self.open_base(root)
        if self.explore is not None and query:
            self.explore.show_query(query)
        if self.explore is not None and path:
            self.explore.read_found(path)

    # What is asked about a base.

    def ask_for_trust(self) -> None:
        if self.explore is not None and self._root is not None:
            self.explore.session.client.start(self._questions.ask_for_trust(self._root))

    async def _open_trusted(self, root: Path) -> None:
        await self.open_alone(root, "" if self.explore is None else self.explore.model.state.query)
        if self._drafts is not None and self.explore is not None:
            await self._open_drafts(self.explore.session, self._drafts)

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        self._questions.ask_to_index(question, answer)

    @property
    def may_ask_for_entities(self) -> bool:
        if self.explore is None or self.screen is not self.explore:
            return False
        return not (self.app_state.entities_asked or self.explore.model.state.query)

    def ask_for_entities(
        self, sentence: str, names: Sequence[str], answer: Callable[[bool], object]
    ) -> None:
        def take(wanted: bool) -> None:
            self.app_state.note_entities_asked()
            answer(wanted)

        self._questions.ask_for_entities(sentence, names, take)

    def choose_base(self) -> None:
        self.push_screen(self._welcome(is_base_open=True), self._open_chosen)

    def _welcome(self, *, why: str = "", is_base_open: bool = False) -> Welcome:
        from kbx_tui.tui.shell.welcome_screen import Welcome  # seldom the first screen

        return Welcome(self.bases, self.app_state, self, why=why, is_base_open=is_base_open)

    async def _open_chosen(self, root: Path | None) -> None:
        if root is not None:
            await self.open_base(root)

    def configure(self, settings: Settings) -> None:
        """Apply the app settings of kbx.toml; if a key is invalid, all keys keep their defaults."""
        if self.explore is None or self._root is None:
            return
        self.app_state.open_base(self._root)
        if self.app_state.notices:
            self.show_notice(safe_line("; ".join(self.app_state.notices)))
            self.app_state.notices.clear()
        self.app_state.keeps_knobs = settings.app.remember_knobs
        if (knobs := self.app_state.knobs) is not None:
            self.explore.model.restore_knobs(*knobs)
        self.explore.panes.restore_hidden()
        try:
            self.keymap = Keymap(dict(settings.keys), self.offer)
        except ConfigError as error:
            self.keymap = Keymap(offer=self.offer)
            self.show_error(safe_line(str(error)))
        self.set_keymap(self.keymap.changes)
        self.explore.use_keymap(self.keymap)

    async def _close_base(self) -> None:
        if self.explore is None:
            return
        await self.explore.session.stop()
        model = self.explore.model
        if model.summary is not None:  # else it has never been open
            self.app_state.remember_knobs(model.state.alpha, model.state.threshold)
            self.app_state.remember_query(model.asked())
            self.app_state.save_base()

    # Modes.

    async def go_to(self, mode: str) -> None:
        if mode == "together":
            await self.search_together()
            return
        if self.together is not None and self.screen is self.together:
            await self.open_alone(self.together.root_in_hand, self.together.model.query)
        if self.explore is None or not isinstance(self.screen, FrameScreen):
            return  # no base is open, or an overlay is
        make_screen = MODES.get(mode)
        if make_screen is not None and mode == self.screen.MODE:
            return
        while self.screen is not self.explore:
            await self.pop_screen()
        if make_screen is not None:
            await self.push_screen(make_screen(self.explore.session, self.app_state, self))

    async def read(self, path: str) -> None:
        await self.go_to("explore")
        if self.explore is not None:
            self.explore.reader.open_document(path, focus=True)

    async def ask(self, query: str) -> None:
        await self.go_to("explore")
        if self.explore is not None:
            self.explore.show_query(query)

    async def action_go_to(self, mode: str) -> None:
        await self.go_to(mode)

    # The status line of the current mode.

    def show_notice(self, text: str) -> None:
        """Show a notice for a moment."""
        self._post_to_front(Notice(text))

    def _notice_of_engine(self, text: str) -> None:
        """Show a notice of the engine, which calls this on its own thread."""
        if self.explore is not None:
            self.explore.session.client.call_on_loop(self.show_notice, safe_line(text))

    def show_error(self, text: str) -> None:
        """Show an error until something works again."""
        self._post_to_front(Failure(text))

    def key_of(self, command_id: str) -> str:
        """Return the first key of a command, for a sentence."""
        return self.keymap.key_of(command_id)

    def show_progress(self, text: str) -> None:
        """Show the progress of indexing in all modes."""
        self.broadcast(IndexProgress(text))

    def broadcast(self, message: Message) -> None:
        """Post a message to all screens of the open base."""
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.post_message(message)

    def _post_to_front(self, message: Message) -> None:
        modes = [screen for screen in self.screen_stack if isinstance(screen, FrameScreen)]
        if (screen := modes[-1] if modes else self.explore) is not None:
            screen.post_message(message)

    # The clipboard and the editor.

    async def copy(self, name: str, text: str) -> str:
        from kbx_tui.tui.desktop import copy_text

        self.copy_to_clipboard(text)  # also where a program takes it: only the terminal is always
        return await asyncio.to_thread(copy_text, name, text, os.environ)  # on the user's machine

    async def save_page(self, query: str, page: str) -> str:
        return await asyncio.to_thread(save_page, query, page, self._root)

    async def edit(self, root: str, path: str, line: int) -> None:
        if notice := open_editor(self, Path(root) / path, line, no_color=self.no_color):
            self.show_notice(notice)

    def leave_base(self, target: str) -> None:
        self.show_notice(f"{target} leads to no page of this knowledge base")

    def open_beside(self, address: str) -> None:
        self.show_notice(open_address(address))

    def action_help_quit(self) -> None:
        """Show how to quit: Ctrl+C does not, because in a field it copies."""
        keys = " or ".join(
            self.keymap.key_bar_text(command)
            for command in self.keymap.commands_in("mode", "app")
            if command.label == "quit"
        )
        self.show_notice(f"{keys} leaves the app")


MakeScreen = Callable[["BaseSession", "AppState", "Navigator"], ModeScreen]


def _compare(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.comparing.screen import Compare

    return Compare(session, app_state, navigator)


def _dedup(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.dedup.screen import Dedup

    return Dedup(session, app_state, navigator)


def _experts(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.experts.screen import Experts

    return Experts(session, app_state, navigator)


def _index(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.indexing.screen import Index

    return Index(session, app_state, navigator)


def _tune(session: BaseSession, app_state: AppState, navigator: Navigator) -> ModeScreen:
    from kbx_tui.tui.tune.screen import Tune

    return Tune(session, app_state, navigator)


MODES: dict[str, MakeScreen] = {
    "dedup": _dedup,
    "experts": _experts,
    "tune": _tune,
    "index": _index,
    "compare": _compare,
}
