"""Bases of screens: the frame of a mode (tabs, status line, key bar), and boxes above a mode."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import scopes_of
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import MENU_OF, Keymap, command_by_id, commands_in
from kbx_tui.tui.drawing.lines import Line, Span, looks, part_at, width_of
from kbx_tui.tui.shell.overlay import Overlay, ResultT
from kbx_tui.tui.terminal_app import Failure, GoTo, Notice, Progress, TerminalApp
from kbx_tui.tui.widgets.footer import MOST, KeyBar, StatusLine
from kbx_tui.tui.widgets.input_fields import PathInput
from kbx_tui.tui.widgets.lines_view import LinesView, LineWidget, RowsView
from kbx_tui.tui.widgets.number_slider import NumberSlider

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.browse import EntityName


LAYOUT_PAUSE = 0.001
ENTITIES_SHOWN, ENTITIES_SEARCHED = 20, 1_000
"""Entities offered for a name, and those looked through for a kind of them or by the palette."""


@cache
def single_key_actions(scopes: tuple[Scope, ...]) -> frozenset[str]:
    """Return the actions of `scopes` that printable characters trigger: not Tab, not ctrl+l."""
    actions = {command.action.partition("(")[0] for command in commands_in(*scopes)}
    return frozenset(actions - {"next_pane", "app.jump"})


def forget_closed_widgets() -> None:
    """Let go of the lines that closed widgets have drawn.

    Textual keeps those of a thousand: they are in the keys of a cache of colours.
    """
    with suppress(ImportError, AttributeError):  # Textual may change what is private to it
        from textual._styles_cache import StylesCache

        StylesCache.get_inner_outer.cache_clear()


class FrameScreen(Screen[None]):
    ALLOW_IN_MAXIMIZED_VIEW = "ModeTabs, StatusLine, KeyBar"
    MODE: ClassVar[str]
    PANES: ClassVar[Mapping[str, type[Widget]]] = {}
    """The panes in Tab order; empty if Tab visits all focusable widgets in their own order.

    The screen has the class `-pane-<name>` of the pane focused last, for the styles of a small
    terminal.
    """
    MOST_KEYS: ClassVar[int] = MOST
    """The most commands in the key bar."""
    MAIN_LIST: ClassVar[type[Widget]]
    """The pane that gets the focus when the user leaves a field or another pane."""

    app = getters.app(TerminalApp)

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: Size | None = None

    def compose(self) -> ComposeResult:
        # Set before there are widgets, which would otherwise be styled twice.
        self._set_width_class(self.app.size.width, update=False)
        yield ModeTabs(self.MODE)
        yield from self.compose_panes()
        yield StatusLine()
        yield KeyBar()

    @abstractmethod
    def compose_panes(self) -> ComposeResult:
        """Yield the widgets between the tabs and the status line."""

    def on_mount(self) -> None:
        for name in list(self.PANES)[:1]:
            self.show_pane(name)
        self.show_keymap()
        self.show_tabs()

    # The tabs.

    @property
    def tab_counts(self) -> Mapping[str, str]:
        return {}

    @property
    @abstractmethod
    def base_words(self) -> tuple[str, str]:
        """The name of the open base or bases, and what they contain."""

    def show_tabs(self) -> None:
        counts = {**self.app.tabs_of_several, **self.tab_counts}
        self.query_one(ModeTabs).show(counts, self.base_words)

    def on_tabs_changed(self) -> None:
        self.show_tabs()

    def on_screen_resume(self) -> None:
        self.show_tabs()  # another mode may have changed the counts
        forget_closed_widgets()

    # The size.

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Resize):
            # Handled here, not with `prevent_default`: all screens share the one event.
            await self._resize()
        else:
            await super().on_event(event)

    async def _resize(self) -> None:
        """Set the classes of the new width first, then lay out once.

        Textual lays out and draws a new size before it sets the classes, then does both again.
        The size is the app's, because an event may hold an older one.
        """
        while (size := self.app.size) != self._laid_out:
            is_other_class = self._set_width_class(size.width)
            self._show_focused_pane()  # before a timer draws: a hidden pane loses the focus
            self.fit(size)
            if is_other_class:
                await asyncio.sleep(LAYOUT_PAUSE)
                if size != self.app.size:
                    continue
            self._laid_out = size
            with self.app.batch_update():  # lay out now, draw later
                await super().on_event(events.Resize(size, size))
            await asyncio.sleep(LAYOUT_PAUSE)

    def _set_width_class(self, width: int, *, update: bool = True) -> bool:
        breakpoints = self.app.HORIZONTAL_BREAKPOINTS or []
        _, name = max((entry for entry in breakpoints if entry[0] <= width), default=(0, ""))
        if not name or self.has_class(name):
            return False
        classes = {other: other == name for _, other in breakpoints}
        self.update_classes(classes, update=update, animate=False)
        return True

    def fit(self, size: Size) -> None:
        """Adapt to a new size, after the class of its width has been set."""

    # Keys.

    def scopes(self) -> tuple[Scope, ...]:
        inner = () if self.focused is None else scopes_of(type(self.focused))
        is_field = isinstance(self.focused, Input)  # letters are text in a field
        return (*inner, "jump", "app") if is_field else (*inner, *self.palette_scopes, "app")

    def first_keys(self) -> Collection[str]:
        """Return the ids of the commands that matter most now, for the key bar."""
        return ()

    def key_labels(self) -> Mapping[str, str]:
        """Return labels for the key bar in place of those of the command table, by command id."""
        return getattr(self.focused, "key_labels", {})

    def show_keys(self) -> None:
        first, most = self.first_keys(), self.MOST_KEYS
        self.query_one(KeyBar).show(
            *self.scopes(), first=first, most=most, labels=self.key_labels()
        )

    def meanings(self) -> Iterable[tuple[str, str]]:
        return ()

    @property
    def palette_scopes(self) -> tuple[Scope, ...]:
        return scopes_of(type(self))

    @property
    def is_typing(self) -> bool:
        return isinstance(self.focused, Input)

    # Panes.

    @property
    def focused_pane(self) -> str:
        names = (name for name, kind in self.PANES.items() if isinstance(self.focused, kind))
        return next(names, "")

    def pane_names(self) -> list[str]:
        return list(self.PANES)

    def show_pane(self, name: str) -> None:
        if not self.has_class(f"-pane-{name}"):
            self.remove_class(*(f"-pane-{other}" for other in self.PANES), update=False)
            self.add_class(f"-pane-{name}")

    def _show_focused_pane(self) -> None:
        if name := self.focused_pane:
            self.show_pane(name)

    def go_to_pane(self, name: str) -> None:
        self.show_pane(name)
        self.set_focus(self.query_one(self.PANES[name]))

    def action_next_pane(self, step: int) -> None:
        if names := self.pane_names():
            here = names.index(self.focused_pane) if self.focused_pane in names else -1
            self.go_to_pane(names[(here + step) % len(names)])
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def on_descendant_focus(self) -> None:
        self._show_focused_pane()
        self.show_keys()
        if self.maximized is not None and self.focused is not self.maximized:
            self.maximized = None  # else the focused pane would be hidden

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable commands while the user types, and let Tab accept a completion if there is one.

        A screen receives keys before the focused field does.
        """
        field = self.focused
        if action == "next_pane" and isinstance(field, PathInput) and field.keeps_tab:
            return parameters != (1,)
        return not self.is_typing or action not in single_key_actions(self.palette_scopes)

    def show_keymap(self) -> None:
        tabs = self.query_one(ModeTabs)
        tabs.tooltip = self.app.keymap.reason or None
        tabs.refresh()
        for slider in self.query(NumberSlider):
            slider.show_keys(self.app.keymap)
        self.query_one(KeyBar).refresh()

    def leave_field(self) -> None:
        if isinstance(self.focused, Input):
            self.action_leave_field()

    def action_slide(self, name: str, steps: int) -> None:
        self.query_one(f"#{name}", NumberSlider).action_move(steps)

    # The status line.

    def show_notice(self, text: str) -> None:
        self.query_one(StatusLine).show_notice(text)

    def on_notice(self, message: Notice) -> None:
        if not (message.yields and self.query_one(StatusLine).is_being_read):
            self.show_notice(message.text)

    def on_failure(self, message: Failure) -> None:
        self.query_one(StatusLine).show_error(message.text)

    def on_progress(self, message: Progress) -> None:
        self.query_one(StatusLine).show_progress(message.text)

    # Actions of every mode.

    def action_leave_field(self) -> None:
        self.set_focus(self.query_one(self.MAIN_LIST))

    def action_back(self) -> None:
        if self.maximized is not None:
            self.maximized = None
        elif not isinstance(self.focused, self.MAIN_LIST):
            self.set_focus(self.query_one(self.MAIN_LIST))
        elif self.MODE != "explore":
            self.show_notice(f"{self.app.keymap.key_of('mode.explore')} goes to explore")

    def action_zoom(self) -> None:
        if self.maximized is not None:
            self.maximized = None
        elif isinstance(self.focused, LinesView):
            self.maximized = self.focused
        else:
            self.show_notice("go to a pane first: it can fill the screen")

    def action_show_message(self) -> None:
        self.query_one(StatusLine).show_again()

    def action_menu(self, command_id: str) -> None:
        from kbx_tui.tui.shell.menu import menu  # loaded with the first one

        scopes = [scope for scope in self.palette_scopes if MENU_OF.get(scope) == command_id]
        commands = list(self.app.keymap.commands_in(*scopes))
        shown = [command for command in commands if self.applies(command.id)]
        self.app.push_screen(menu(self, command_by_id(command_id).label, commands, shown))

    def applies(self, command_id: str) -> bool:
        """Return whether a command of a menu does something now."""
        if command_id == "pane.zoom":
            return self.maximized is not None or isinstance(self.focused, LinesView)
        return command_id != "message.show" or bool(self.query_one(StatusLine).last)

    async def action_switch_base(self) -> None:
        await self.app.run_action("switch_base")

    async def action_help(self) -> None:
        await self.app.run_action("help")

    def action_leave(self) -> None:
        self.app.exit()


class ModeScreen(FrameScreen):
    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__()
        self.session, self.app_state = session, app_state

    @property
    def tab_counts(self) -> Mapping[str, str]:
        return self.session.tab_counts

    @property
    def base_words(self) -> tuple[str, str]:
        return self.session.base_words

    def pick_entity(
        self,
        pick: Callable[[str], None],
        likely: Sequence[str] = (),
        *,
        ask: str = "which entity? type a name, such as of a person",
        among: Callable[[EntityName], bool] | None = None,
    ) -> None:
        """Let the user choose an entity; those with a `likely` name come first."""
        from kbx_tui.tui.shell.menu import entity_palette

        most = ENTITIES_SHOWN if among is None else ENTITIES_SEARCHED
        find = self.session.explore.find_entities

        async def found(query: str) -> Sequence[EntityName]:
            first = [] if query else [each for name in likely for each in await find(name, 1)]
            fitting = filter(among, dict.fromkeys((*first, *await find(query, most))))
            return list(islice(fitting, ENTITIES_SHOWN))

        self.app.push_screen(entity_palette(found, pick, ask))

    async def edit_file(self, path: str, line: int) -> bool:
        """Open a file of the base in the user's editor, then index it; False without a file.

        If the settings say so, Obsidian opens it instead, alongside the app.
        """
        summary = self.session.explore.summary
        if not path or summary is None:
            return False
        if address := await self.session.client.run(
            lambda engine: engine.links.obsidian_address(path)
        ):
            self.show_notice(self.app.open_beside(address))
            return True
        if reason := await self.app.edit(Path(summary.root) / path, line):
            self.show_notice(reason)
        self.session.index_sync.index(maybe_changed=[path])
        return True


AnswerT = TypeVar("AnswerT")


class ModeBox(ModalScreen[ResultT], Overlay[ResultT]):
    """A framed box above a mode, whose content comes from the engine."""

    SCOPES: ClassVar[tuple[Scope, ...]] = ()
    """The scopes of which its help lists the keys; empty where a field leaves no key for it."""

    def __init__(self, below: ModeScreen) -> None:
        super().__init__()
        self._below = below
        self._client, self._model = below.session.client, below.session.explore

    @property
    def _box(self) -> Vertical:
        return self.query_one(Vertical)

    @property
    def _list(self) -> RowsView[Any]:
        return self.query_one(RowsView)

    async def _ask(self, call: Callable[[KnowledgeBase], AnswerT]) -> AnswerT | None:
        """Return the answer; on a KbxError show it and return None, or raise it once closed."""
        try:
            return await self._client.run(call)
        except KbxError as error:
            if not self.is_current:
                raise
            self._box.border_subtitle = Content(safe_line(str(error)))
            return None

    def action_move(self, rows: int) -> None:
        self._list.action_move(rows)

    def action_move_page(self, pages: int) -> None:
        self._list.action_move_page(pages)

    def action_undo(self) -> None:
        self._model.undo()

    def action_close(self) -> None:
        self.dismiss(None)


class ModeTabs(LineWidget):
    COMPONENT_CLASSES = looks("accent", "tab")
    app = getters.app(TerminalApp)

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.counts: Mapping[str, str] = {}
        self.base = ("", "")
        """The name of the base, and what it contains."""

    def show(self, counts: Mapping[str, str], base: tuple[str, str]) -> None:
        if (counts, base) != (self.counts, self.base):
            self.counts, self.base = counts, base
            self.refresh()

    def line(self, width: int) -> Line:
        texts, right = self._fitted(width)
        line = tab_line(texts)
        gap = " " * (width - width_of(line) - width_of((Span(right),)) - 1)
        return (*line, Span(gap), Span(right, "dim"))

    def on_click(self, event: events.Click) -> None:
        texts, _ = self._fitted(self.size.width)
        x = event.get_content_offset_capture(self).x
        mode = part_at(((text.mode, text.spans) for text in texts), x)
        if mode is not None and mode != self.current:
            self.post_message(GoTo(mode))

    def _fitted(self, width: int) -> tuple[list[TabText], str]:
        return fit_tabs(tab_texts(self.current, self.app.keymap, self.counts), self.base, width)


GAP = Span("  ")

SEVERAL = "together"
TABS: Mapping[str, str] = {
    "explore": "Explore",
    "dedup": "Drafts",
    "experts": "Experts",
    "tune": "Tune",
    "index": "Index",
    SEVERAL: "All bases",
}
"""Titles by mode. Modes of one base show the tab of several only where it has a count."""
WITHIN = {"compare": ("explore", "compare")}
"""Modes in the tab of another: that mode, and what its title says besides."""


class TabText(NamedTuple):
    mode: str
    key: str
    words: str
    is_current: bool
    gap: Span = GAP

    @property
    def spans(self) -> Line:
        if self.is_current:
            text = " ".join(filter(None, (self.key, self.words)))
            return (Span(" "), Span(text, "tab"), self.gap)
        words = f" {self.words}" if self.words else ""
        return (Span(" "), Span(self.key, "dim"), Span(words), self.gap)


def tab_texts(current: str, keymap: Keymap, counts: Mapping[str, str]) -> list[list[TabText]]:
    """Return wordings of the tabs, the longest first; `counts` follow the titles.

    Before the titles of other modes are left out, they are cut and moved together.
    """
    return [
        list(_texts(current, keymap, counts, None)),
        list(_texts(current, keymap, counts, 5)),
        list(_texts(current, keymap, counts, 4)),
        list(_texts(current, keymap, counts, 0)),
        list(_texts(current, keymap, dict.fromkeys(counts, ""), 0)),
    ]


def _texts(
    current: str, keymap: Keymap, counts: Mapping[str, str], letters: int | None
) -> Iterator[TabText]:
    current, within = WITHIN.get(current, (current, ""))
    for mode, name in TABS.items():
        is_current = mode == current
        if mode != SEVERAL or is_current or mode in counts:
            key = keymap.key_of(f"mode.{mode}")
            key = key.upper() if key[0] == "f" and key[1:].isdigit() else key
            title = name if is_current or letters is None else name.split()[0][:letters]
            title += f": {within}" if within and is_current else ""
            words = " ".join(filter(None, (title, counts.get(mode, ""))))
            yield TabText(mode, key, words, is_current, Span("") if letters else GAP)


def tab_line(texts: list[TabText]) -> Line:
    return tuple(span for text in texts for span in text.spans)


def fit_tabs(
    wordings: list[list[TabText]], base: tuple[str, str], width: int
) -> tuple[list[TabText], str]:
    """Return the longest wording of the tabs that fits, and as much about the base as fits.

    `base` is (name, contents). If several bases are open, the name is not left out to make room for
    the titles of other tabs.
    """
    has_several = any(text.mode == SEVERAL for text in wordings[0])
    for texts in wordings:
        room = width - width_of(tab_line(texts)) - 3
        for right in (" · ".join(filter(None, base)), base[0]):
            if width_of((Span(right),)) <= room:
                return texts, right
        if room >= -2 and not (has_several and base[0] and texts is not wordings[-1]):
            return texts, ""
    return wordings[-1], ""
