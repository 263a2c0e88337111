"""Ways to a command or a place, each opened above a screen.

A menu of commands, which a key or a click runs; jump mode, where a letter on every pane and field
leads there; the palettes: of commands, those used most first, and cards; of entities; and of
themes, each shown at once. Loaded when first used.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Label, OptionList

from kbx_tui.knowledge.folding import fold
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.command_table import Command
from kbx_tui.tui.commands.keymap import command_by_id, display_key
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks, width_of
from kbx_tui.tui.shell.overlay import Overlay

if TYPE_CHECKING:
    from kbx_tui.search.browse import EntityName

REPEATED = ("grade", "next_to_judge")
"""Actions after which the menu stays open, for the next document."""

LEAVING = frozenset({"f1", "f2", "f3", "f4", "f5", "question_mark", "ctrl+p"})
"""Keys that close the menu: those of the modes, of the help and of the palette."""


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "Query": (
        *("history.open", "entities.add", "dates.only", "dates.off", "filter.remove"),
        *("spelling.toggle", "preset.next", "exact.toggle"),
    ),
    "Results": ("sort.next", "facets.open", "result.mark", "links.open", "related.open"),
    "Window": ("entities.toggle", "pane.zoom", "message.show", "index.refresh", "base.switch"),
}
"""Ids of commands by their column in a menu."""


class Menu(ModalScreen[None], Overlay[None]):
    def __init__(self, below: Screen[None], title: str, shown: Sequence[Command]) -> None:
        super().__init__()
        self.below = below
        self.entries = MenuEntries(shown)
        self.entries.border_title, self.entries.border_subtitle = title, "esc closes"

    def compose(self) -> ComposeResult:
        yield self.entries

    async def action_take(self, command_id: str) -> None:
        if not self.is_on_top:
            return  # the second of two quick clicks
        action = command_by_id(command_id).action
        if action.partition("(")[0] not in REPEATED:
            self.dismiss()
        await self.below.run_action(action)

    async def action_move_below(self, key: str) -> None:
        """Move the cursor of the screen below, to which the next command applies."""
        if active := self.below.active_bindings.get(key):
            await self.app.run_action(active.binding.action, active.node)

    async def on_key(self, event: events.Key) -> None:
        """Close at a key that leads elsewhere, and let it act as it does without a menu."""
        if event.key in LEAVING and (active := self.below.active_bindings.get(event.key)):
            event.stop()
            self.dismiss()
            await self.app.run_action(active.binding.action, active.node)

    def action_close(self) -> None:
        self.dismiss()

    def on_click(self) -> None:
        self.dismiss()


def menu(
    below: Screen[None], title: str, commands: Sequence[Command], shown: Sequence[Command]
) -> Menu:
    """Return a menu of commands that run on the screen below.

    Those that are not `shown` say why they do nothing now.
    """

    class OfScreen(Menu):
        # With priority, so that keys typed at once act in order.
        BINDINGS: ClassVar[list[BindingType]] = [
            *(
                Binding(command.keys, f"take({command.id!r})", show=False, priority=True)
                for command in commands
            ),
            Binding("escape,q", "close", show=False, priority=True),
            Binding("up", "move_below('up')", show=False, priority=True),
            Binding("down", "move_below('down')", show=False, priority=True),
        ]

    return OfScreen(below, title, shown)


Cell = tuple[Command | None, Line]


class MenuEntries(LineDrawing, Widget):
    """The commands in columns: those of `COLUMNS` if they fit, else as many as do."""

    COMPONENT_CLASSES = looks("accent", "strong")
    DEFAULT_CSS = "MenuEntries { dock: bottom; height: auto; }"

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__()
        cells: dict[str, Cell] = {each.id: (each, _cell(each)) for each in commands}
        columns = [[cells[name] for name in ids if name in cells] for ids in COLUMNS.values()]
        heads: list[Cell] = [(None, (Span(f" {head}", "strong"),)) for head in COLUMNS]
        headed = [[head, *column] for head, column in zip(heads, columns, strict=True) if column]
        self.columns = headed if len(headed) > 1 else [list(cells.values())]
        widths = (width_of(cell) for column in self.columns for _, cell in column)
        self.cell_width = max(widths, default=0) + 1

    def rows(self, width: int) -> list[list[Cell | None]]:
        room, columns = max(width // self.cell_width, 1), self.columns
        if not 1 < len(columns) <= room:
            cells = [cell for column in columns for cell in column]
            height = max(-(-len(cells) // room), 1)
            columns = [cells[at : at + height] for at in range(0, len(cells), height)]
        return list(map(list, zip_longest(*columns)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(width))

    def render_line(self, y: int) -> Strip:
        rows = self.rows(self.size.width)
        cells = [cell[1] if cell else BLANK for cell in rows[y]] if y < len(rows) else []
        blanks = ((Span(" " * (self.cell_width - width_of(cell))),) for cell in cells)
        pairs = zip(cells, blanks, strict=True)
        return self.draw(
            tuple(span for pair in pairs for line in pair for span in line), self.size.width
        )

    async def on_click(self, event: events.Click) -> None:
        event.stop()
        offset, rows = event.get_content_offset(self), self.rows(self.size.width)
        if offset is None or offset.y >= len(rows):
            return
        column = offset.x // self.cell_width
        cell = rows[offset.y][column] if column < len(rows[offset.y]) else None
        if cell is not None and cell[0] is not None and isinstance(self.screen, Menu):
            await self.screen.action_take(cell[0].id)


def _cell(command: Command) -> Line:
    key = display_key(command.keys)
    return (Span(f" {key}", "accent"), Span(f" {command.label} ", "dim"))


LETTERS = "asdfghjklqwertzuiopyxcvbnm"


class Jump(ModalScreen[Widget | None], Overlay[Widget | None]):
    """Dismissed with the widget of the letter that was pressed; None for esc."""

    # With priority, so that keys typed at once act in order.
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(letter, f"go({letter!r})", show=False, priority=True) for letter in LETTERS),
        Binding("escape", "go('')", show=False, priority=True),
    ]

    def __init__(self, below: Screen[None]) -> None:
        super().__init__()
        self.size_of_labels = below.app.size
        # In the order of the screen, not of regions as in the focus chain: a pane that was just
        # shown has none yet, so the letters of others would change when it gets its own.
        chain = set(below.focus_chain)
        panes = filter(chain.__contains__, below.query("*"))
        self.targets = dict(zip(LETTERS, panes, strict=False))

    def compose(self) -> ComposeResult:
        for letter, pane in self.targets.items():
            # A pane has a frame to hold it; of a field, only the cell before its text is free.
            is_pane = pane.region.height > 2
            label = Label(f" {letter} " if is_pane else letter)
            x = 0 if is_pane else max(pane.gutter.left - 1, 0)
            label.styles.offset = (pane.region.x + x, pane.region.y)
            yield label

    def action_go(self, letter: str) -> None:
        self.dismiss(self.targets.get(letter))

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self) -> None:
        if self.app.size != self.size_of_labels:
            self.dismiss(None)


OFTEN = 5
"""How many commands precede the groups because they were used most."""
LEAST_MATCH = 1.75
"""Score per letter of what is typed from which a command is listed, so that the letters of a word
that it does not have are not picked from all over its title."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    id: str
    group: str
    title: str
    help: str
    keys: str
    run: Callable[[], Any]

    @property
    def text(self) -> str:
        return f"{self.group}: {self.title}" if self.group else self.title

    def display(self, text: Content | str) -> Content:
        return Content.assemble(text, "  ", (self.keys, "$text-accent"))


OTHER_WORDS: Mapping[str, str] = {
    "app.help": "help shortcuts manual",
    "sort.next": "timeline newest order by date",
    "related.open": "similar",
    "entities.add": "filter by person",
    "facets.open": "filter by type",
    "why.toggle": "explain score",
    "undo": "back revert",
    "base.switch": "vault folder open",
    "focus.path": "filter directory scope",
    "results.share": "export html",
    "copy.path": "clipboard",
    "query.save": "bookmark favourite",
    "history.open": "saved queries recent",
    "filter.remove": "clear delete",
    "index.refresh": "reload update sync",
    "index.undo": "back revert",
    "settings.save": "options preferences configuration",
    "mode.tune": "options preferences configuration alpha threshold",
    "drafts.apply": "save",
    "draft.new": "add remember fact",
    "draft.drop": "delete",
    "draft.supersede": "delete replace",
    "drafts.load": "import open",
    "drafts.scan": "duplicates",
    "pane.zoom": "full screen maximise",
}
"""Further words by which commands are found, by id."""
GROUPS = {"copy_menu": "Copy", "grade_menu": "Grade", "app": "Go to", "jump": "Go to"}


def group_of(command: Command) -> str:
    """Return the group of a command, empty for those of the screen itself."""
    return GROUPS.get(command.scope, "View" if command.scope.endswith("_menu") else "")


def in_order(entries: list[PaletteEntry], uses: dict[str, int]) -> Iterator[PaletteEntry]:
    """Yield the entries used most, then the others, group by group."""
    used = [entry for entry in entries if uses.get(entry.id)]
    often = sorted(used, key=lambda entry: -uses[entry.id])[:OFTEN]
    yield from often
    groups = dict.fromkeys(entry.group for entry in entries)
    for group in groups:
        yield from (entry for entry in entries if entry.group == group and entry not in often)


def command_palette(
    entries: list[PaletteEntry],
    uses: dict[str, int],
    cards: Sequence[EntityName],
    open_card: Callable[[str], Any],
) -> CommandPalette:
    """Return the palette of commands and, by a part of their names, `cards`.

    They may come after it is opened: it would list nothing while it waits for them.
    """

    class Commands(Provider):
        async def discover(self) -> Hits:
            for entry in in_order(entries, uses):
                yield DiscoveryHit(entry.display(entry.text), entry.run, entry.text, entry.help)

        async def search(self, query: str) -> Hits:
            matcher = self.matcher(query)
            for entry in entries:
                score = max(matcher.match(entry.title), matcher.match(entry.text))
                score *= score >= LEAST_MATCH * len(query)
                words = f"{entry.help} {OTHER_WORDS.get(entry.id, '')}"
                if query.casefold() in words.casefold():
                    score = max(score, matcher.match(words) / 2)
                if score:
                    often = 1 + math.log1p(uses.get(entry.id, 0))
                    shown = entry.display(matcher.highlight(entry.text))
                    yield Hit(score * often, shown, entry.run, entry.text, entry.help)

    class Cards(Provider):
        async def search(self, query: str) -> Hits:
            wanted, matcher = fold(query), self.matcher(query)
            for entity in (each for each in cards if wanted in fold(each.name)):
                shown = Content.assemble("Open card: ", matcher.highlight(safe_line(entity.name)))
                open_this = partial(open_card, entity.id)
                score = max(matcher.match(entity.name), LEAST_MATCH * len(query))
                yield Hit(score, shown, open_this, shown.plain, safe_line(entity.type))

    words = "Search for commands and entities…"
    return CommandPalette(providers=[Commands, Cards], placeholder=words)


def entity_palette(
    find: Callable[[str], Awaitable[Sequence[EntityName]]], pick: Callable[[str], None], ask: str
) -> CommandPalette:
    class Entities(Provider):
        async def discover(self) -> Hits:
            async for hit in self.search(""):
                yield DiscoveryHit(hit.match_display, hit.command, text=hit.text)

        async def search(self, query: str) -> AsyncIterator[Hit]:
            for rank, entity in enumerate(await find(query), 1):
                label = f"{safe_line(entity.name)} · {safe_line(entity.type)}"
                yield Hit(1.0 / rank, Content(label), partial(pick, entity.id), text=label)

    return CommandPalette(providers=[Entities], placeholder=ask)


class ThemePalette(CommandPalette):
    """Shows the app in the theme at the cursor; esc goes back to the one before."""

    PAUSE: ClassVar = 0.1
    """Seconds at a theme before it is shown: styling everything takes about as long."""

    def __init__(self, choose: Callable[[str], object], current: str) -> None:
        self._timer: Timer | None = None

        class Themes(Provider):
            def _names(self) -> list[str]:
                # Last those in the colours of the terminal, which may be dark under a light name.
                names = sorted(self.app.available_themes)
                names.sort(key=lambda name: (name != current, "ansi" in name))
                return names

            def _label(self, name: str) -> str:
                is_light = not self.app.available_themes[name].dark and "ansi" not in name
                light, now = " · light" * is_light, " · current" * (name == current)
                return f"{name}{light}{now}"

            async def discover(self) -> Hits:
                for name in self._names():
                    yield DiscoveryHit(self._label(name), partial(choose, name), name)

            async def search(self, query: str) -> Hits:
                matcher = self.matcher(query)
                for name in self._names():
                    label = self._label(name)
                    if (score := matcher.match(label)) > 0:
                        yield Hit(score, matcher.highlight(label), partial(choose, name), name)

        super().__init__(providers=[Themes], placeholder="Search for themes…")

    @on(OptionList.OptionHighlighted)
    def preview(self, event: OptionList.OptionHighlighted) -> None:
        hit = getattr(event.option, "hit", None)  # the line that nothing was found has none
        if hit is None:
            return
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.PAUSE, partial(setattr, self.app, "theme", hit.text))
