"""The app for one knowledge base or several. The engine is opened after the first paint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual import events
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from kbx_tui.ending import end_soon
from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import Bases, BaseSession
from kbx_tui.tui.commands import keymap
from kbx_tui.tui.commands.bindings import bindings, scopes_of
from kbx_tui.tui.commands.command_table import Command
from kbx_tui.tui.explore.model import DEBOUNCE_SECONDS
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.shell.frame_screen import ENTITIES_SEARCHED, FrameScreen, ModeScreen
from kbx_tui.tui.terminal_app import (
    Failure,
    GoTo,
    Notice,
    OpenBase,
    Progress,
    TerminalApp,
    stylesheets,
)

if TYPE_CHECKING:
    from kbx_tui.config import Settings
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.knowledge.topics import EntityProposal
    from kbx_tui.search.browse import EntityName
    from kbx_tui.tui.shell.menu import PaletteEntry
    from kbx_tui.tui.shell.questions import Welcome
    from kbx_tui.tui.together import Together


TourWish = Literal["no", "first", "always"]
WIDTH_CLASSES: list[tuple[int, str]] | None = [(0, "-small"), (80, "-narrow"), (110, "-wide")]
"""Minimum width of a screen in columns, and the class it has from that width on."""


class KbxApp(TerminalApp):
    """The app. Screens know it as a `TerminalApp`, the session of the open base as its `Host`."""

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
        offer: keymap.Offer = keymap.EVERYTHING,
    ) -> None:
        """Open the base at `root`; with None, let the user choose one, and say `why`.

        `together` are the roots of several bases to search together, instead of `root`. `drafts` is
        a file of drafts to start with, in the dedup mode. `trust` allows those bases everything
        that their kbx.toml asks for. `tour` shows the tour: `always`, or `first` for once per user.
        `app_state` defaults to the user's; `offer` says which commands are available.
        """
        self.app_state = app_state or AppState()
        super().__init__(self.app_state.user.theme, offer)
        self._drafts = drafts
        self.bases = bases or Bases(trusted=(root, *together) if trust else ())
        self._debounce = debounce
        self._theme_before = ""
        """The theme to go back to while others are shown; empty unless the user is choosing one."""
        self._first: Screen[Any]
        self.explore: Explore | None = None
        self.together: Together | None = None
        if together:
            from kbx_tui.api.several_bases import base_names
            from kbx_tui.tui.together import Together, TogetherModel

            self.app_state.note_bases(together)
            model = TogetherModel(base_names(together), self.bases, debounce)
            self._first = self.together = Together(model)
            self.tabs_of_several = {"together": f"({len(model.bases)})"}
        elif root is None:
            self._first = self._welcome(why=why)
        else:
            self._first = self.explore = self._make_explore(root)
            seen = self.app_state.user.tour_seen
            self.explore.tour.is_wanted = tour == "always" or (tour == "first" and not seen)

    def on_mount(self) -> None:
        self.set_keymap(self.keymap.changes)
        if self.together is not None:
            self.install_screen(self.together, "together")  # kept while a single base is open
        self.push_screen(self._first)  # the default screen cannot be switched for another
        if self.explore is not None:
            self.call_after_refresh(self.explore.session.start)
            self.call_after_refresh(self._open_drafts)

    async def _open_drafts(self) -> None:
        if self._drafts is not None and self.explore is not None:
            await self.go_to("dedup")
            self.explore.session.review.load(str(self._drafts))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            explore = self.explore if self.screen is self.explore else None
            if explore is not None and explore.tour.is_shown and explore.tour.take_key(event.key):
                return
            if reason := self._refusal(event.key):
                self.show_notice(reason)
                return
        await super().on_event(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable a key that a command had where it means something else now."""
        screen = self.screen
        if action != "moved" or not isinstance(screen, FrameScreen):
            return super().check_action(action, parameters)
        command_id, key = map(str, parameters)
        is_free = command_id in self.keymap.changes or not self.keymap.has_key(
            key, *screen.scopes()
        )
        return is_free and not screen.is_typing

    async def action_moved(self, command_id: str, key: str) -> None:
        """Run a command by a key that it had; the help says which one it has now."""
        command = keymap.command_by_id(command_id)
        pane = None if command.scope in keymap.MENU_OF else self.focused
        await (pane or self.screen).run_action(command.action)

    def _refusal(self, key: str) -> str:
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
        self.root = root

        def notice(text: str) -> None:
            session.client.call_on_loop(self.show_notice, safe_line(text))

        session = BaseSession(
            partial(self.bases.open, root, notice),
            self,
            writes=self.bases.writes,
            debounce=self._debounce,
            on_answer=self.collector.note_activity,  # the answer will be drawn
        )
        return Explore(session, self.app_state)

    async def open_base(self, root: Path, query: str = "", path: str = "") -> None:
        await self._leave_base()
        self.explore = explore = self._make_explore(root)
        await self.switch_screen(explore)
        self.call_after_refresh(explore.session.start)
        if query:
            explore.show_query(query)
        if path:
            explore.read_found(path)

    async def on_open_base(self, message: OpenBase) -> None:
        await self.open_base(message.root, message.query, message.path)

    async def _leave_base(self) -> None:
        if self.explore is not None:
            await self.go_to("explore")
            await self._close_base()
            self.app_state.close_base()
            self.explore = None

    # Several bases.

    async def action_search_together(self) -> None:
        if self.together is None:
            self.show_notice("one base is open: `kbx --kb FOLDER --kb FOLDER` searches several")
        elif isinstance(self.screen, FrameScreen) and self.screen is not self.together:
            await self._leave_base()
            await self.switch_screen(self.together)

    # Questions about a base.

    def ask_for_trust(self, go_on: Callable[[], object]) -> None:
        if self.explore is not None and self.root is not None:
            self.explore.session.client.start(self._ask_for_trust(self.root, go_on))

    async def _ask_for_trust(self, root: Path, go_on: Callable[[], object]) -> None:
        requests = await asyncio.to_thread(self.bases.questions, root)
        if not requests:
            go_on()
            return
        from kbx_tui.tui.shell.questions import TrustQuestion

        own = self.keymap

        async def take(allowed: bool | None) -> None:
            self._use_keymap(own)
            try:
                await asyncio.to_thread(self.bases.answer, root, requests, allowed=bool(allowed))
            except KbxError as error:
                self.show_error(safe_line(str(error)))
                return
            if not allowed:
                go_on()
                return
            query = "" if self.explore is None else self.explore.model.state.query
            await self.open_base(root, query)
            await self._open_drafts()

        self._use_keymap(keymap.Keymap(offer=self.offer))  # or the base could swap yes and no
        self.push_screen(TrustQuestion(str(root), requests), take)

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        from kbx_tui.tui.shell.questions import ConfirmIndexing

        self.call_later(self.push_screen, ConfirmIndexing(question), lambda yes: answer(bool(yes)))

    @property
    def may_ask_for_entities(self) -> bool:
        if self.explore is None or self.screen is not self.explore:
            return False
        return not (self.app_state.entities_asked or self.explore.model.state.query)

    def ask_for_entities(self, proposal: EntityProposal, answer: Callable[[bool], object]) -> None:
        from kbx_tui.tui.shell.questions import EntitiesQuestion

        def take(wanted: bool | None) -> None:
            self.app_state.note_entities_asked()
            answer(bool(wanted))

        self.call_later(self.push_screen, EntitiesQuestion(proposal), take)

    def action_switch_base(self) -> None:
        self.push_screen(self._welcome(is_base_open=True))

    def _welcome(self, *, why: str = "", is_base_open: bool = False) -> Welcome:
        from kbx_tui.tui.shell.questions import Welcome  # seldom the first screen

        return Welcome(self.bases, self.app_state, why=why, is_base_open=is_base_open)

    def configure(self, settings: Settings) -> None:
        if self.explore is None or self.root is None:
            return
        self.app_state.open_base(self.root)
        if self.app_state.notices:
            self.show_notice(safe_line("; ".join(self.app_state.notices)))
            self.app_state.notices.clear()
        self.app_state.keeps_knobs = settings.app.remember_knobs
        self.app_state.measures = settings.app.measures
        if (knobs := self.app_state.knobs) is not None:
            self.explore.model.restore_knobs(*knobs)
        self.explore.panes.restore_hidden()
        try:
            self._use_keymap(keymap.Keymap(dict(settings.keys), self.offer))
        except ConfigError as error:
            self._use_keymap(keymap.Keymap(offer=self.offer))
            self.show_error(safe_line(str(error)))
        self.explore.show_keymap()

    def _use_keymap(self, used: keymap.Keymap) -> None:
        self.keymap = used
        self.set_keymap(used.changes)

    async def _close_base(self) -> None:
        if self.explore is None:
            return
        await self.explore.session.stop()
        model = self.explore.model
        if model.summary is not None:  # else the base was never opened
            self.app_state.remember_knobs(model.state.alpha, model.state.threshold)
            self.app_state.remember_query(model.asked())
            self.app_state.save_base()

    # Modes.

    async def go_to(self, mode: str) -> None:
        if mode == "together":
            await self.action_search_together()
            return
        if self.together is not None and self.screen is self.together:
            await self.open_base(self.together.root_in_hand, self.together.model.query)
        if self.explore is None or not isinstance(self.screen, FrameScreen):
            return  # no base is open, or an overlay is shown
        if mode == self.screen.MODE != "explore":
            return
        while self.screen is not self.explore:
            await self.pop_screen()
        if mode != "explore":
            await self.push_screen(mode_class(mode)(self.explore.session, self.app_state))
        else:
            self.explore.arrive()

    action_go_to = go_to

    async def on_go_to(self, message: GoTo) -> None:
        before = self.screen.MODE if isinstance(self.screen, FrameScreen) else ""
        await self.go_to(message.mode)
        if message.query and self.explore is not None:
            self.explore.show_query(message.query)
        if all(message.merges) and self.explore is not None:
            self.explore.session.review.propose_merge(*message.merges)
        if (message.path or message.entity) and self.explore is not None:
            self.explore.reader.open_from(before, message)

    # The status line of the current mode.

    def show_notice(self, text: str, *, yields: bool = False) -> None:
        self._post_to_front(Notice(text, yields))

    def show_error(self, text: str) -> None:
        self._post_to_front(Failure(text))

    def key_of(self, command_id: str) -> str:
        return self.keymap.key_of(command_id)

    def show_progress(self, text: str) -> None:
        self.broadcast(Progress(text))

    def broadcast(self, message: Message) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, FrameScreen):
                screen.post_message(message)

    def _post_to_front(self, message: Message) -> None:
        modes = [screen for screen in self.screen_stack if isinstance(screen, FrameScreen)]
        if (screen := modes[-1] if modes else self.explore) is not None:
            screen.post_message(message)

    # Help.

    def action_help(self) -> None:
        from kbx_tui.tui.shell.help_screen import Help

        self.push_screen(Help(self.screen, self.keymap))

    def action_help_quit(self) -> None:
        """Show how to quit; Ctrl+C itself does not, because it copies in a field."""
        keys = " or ".join(
            self.keymap.key_bar_text(command)
            for command in self.keymap.commands_in("mode", "app")
            if command.label == "quit"
        )
        self.show_notice(f"{keys} leaves the app")

    # The palette.

    def palette_entries(self, screen: Screen[Any]) -> Iterable[PaletteEntry]:
        from kbx_tui.tui.shell.menu import PaletteEntry, group_of  # loaded with the palette

        if isinstance(screen, FrameScreen):
            pane = () if screen.focused is None else scopes_of(type(screen.focused))
            for command in self.keymap.commands_in(*pane, *screen.palette_scopes, "app"):
                if command.in_palette:
                    yield PaletteEntry(
                        command.id,
                        group_of(command),
                        (command.title or command.label).capitalize(),
                        command.help,
                        self.keymap.display_keys(command),
                        partial(self._run_command, screen, command, command.scope in pane),
                    )
        if isinstance(screen, ModeScreen) and self.keymap.offers("edit"):
            from kbx_tui.knowledge.vault import CONFIG_NAME

            words = f"open {CONFIG_NAME} in your editor"
            edit = partial(screen.edit_file, CONFIG_NAME, 0)
            yield PaletteEntry("settings.file", "App", "Settings file", words, "", edit)
        if self.explore is not None:
            words = "show explore in six steps"
            yield PaletteEntry("Tour", "App", "Start the tour", words, "", self.start_tour)
        for title, words, run in (
            ("Theme", "change the colours", self.action_change_theme),
            ("Screenshot", "save the screen as SVG in the current folder", self.take_screenshot),
            ("Quit", "leave the app", self.action_quit),
        ):
            yield PaletteEntry(title, "App", title, words, "", run)

    async def _run_command(self, screen: FrameScreen, command: Command, in_pane: bool) -> None:
        """Run an action outside fields, as its key does, even if the palette was opened in one."""
        self.app_state.note_use(command.id)
        screen.leave_field()
        pane = screen.focused if in_pane else None
        await (self if command.scope == "app" else pane or screen).run_action(command.action)

    def action_command_palette(self) -> None:
        from kbx_tui.tui.shell.menu import command_palette

        if isinstance(self.screen, CommandPalette):
            return

        def open_card(entity_id: str) -> None:
            self.post_message(GoTo(entity=entity_id))

        cards: list[EntityName] = []

        async def find_cards(explore: Explore) -> None:
            cards.extend(await explore.model.find_entities("", ENTITIES_SEARCHED))

        if self.explore is not None and isinstance(self.screen, ModeScreen):
            self.explore.session.client.start(find_cards(self.explore))
        entries = list(self.palette_entries(self.screen))
        self.push_screen(command_palette(entries, self.app_state.user.used, cards, open_card))

    def take_screenshot(self) -> None:
        if not self.keymap.offers("edit"):
            self.deliver_screenshot()  # to the browser
            return
        try:
            self.show_notice(f"saved {Path(self.save_screenshot(path=str(Path.cwd()))).name}")
        except OSError as error:
            self.show_error(f"no screenshot: {error.strerror or error}: {error.filename or ''}")

    async def start_tour(self) -> None:
        await self.go_to("explore")
        if self.explore is not None:
            self.explore.action_focus_query()
            self.explore.tour.start()

    def search_themes(self) -> None:
        from kbx_tui.tui.shell.menu import ThemePalette

        def choose(name: str) -> None:
            self.theme = name
            self.app_state.remember_theme(name)

        self._theme_before = self.theme
        self.push_screen(ThemePalette(choose, self.theme))

    def on_command_palette_closed(self, event: CommandPalette.Closed) -> None:
        before, self._theme_before = self._theme_before, ""
        if before and not event.option_selected:
            self.theme = before

    def action_jump(self) -> None:
        from kbx_tui.tui.shell.menu import Jump

        def jump(target: Widget | None) -> None:
            if target is not None:
                self.screen.set_focus(target)

        if isinstance(self.screen, FrameScreen):
            self.push_screen(Jump(self.screen), jump)


def mode_class(mode: str) -> type[ModeScreen]:
    """Return the class of a mode, imported only now so that it does not delay the first paint."""
    if mode == "compare":
        from kbx_tui.tui.comparing import Compare

        return Compare
    if mode == "dedup":
        from kbx_tui.tui.dedup.screen import Dedup

        return Dedup
    if mode == "experts":
        from kbx_tui.tui.experts.screen import Experts

        return Experts
    if mode == "tune":
        from kbx_tui.tui.tune.screen import Tune

        return Tune
    from kbx_tui.tui.indexing.screen import Index

    return Index
