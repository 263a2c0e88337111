"""What one key opens above a screen: a menu of commands, which a key or a click runs; and jump
mode, where a letter on every pane and field leads there. Loaded when first used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Label

from kbx_tui.tui.commands.command_table import Command
from kbx_tui.tui.commands.keymap import command_by_id, display_key
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks, width_of
from kbx_tui.tui.shell.overlay import Overlay

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
            label = Label(f" {letter} ")
            label.styles.offset = pane.region.offset
            yield label

    def action_go(self, letter: str) -> None:
        self.dismiss(self.targets.get(letter))

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self) -> None:
        if self.app.size != self.size_of_labels:
            self.dismiss(None)
