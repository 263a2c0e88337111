"""Shows the keys that work where the focus is; its filter finds those of other places, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import JUDGING, MENU_OF, SCOPE_TITLES, Keymap, display_key
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit, looks, wrap
from kbx_tui.tui.shell.frame_screen import FrameScreen, ModeBox
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import TextPane

KEY_WIDTH = 12

Row = tuple[str, Look, str]
"""A key or sign, its look, and what it means."""

RESULT_SIGNS: tuple[Row, ...] = (
    ("━━", "document", "what the document's own text adds to its score"),
    ("──", "entity", "what its link to the entities in the query adds"),
    ("●", "entity", "an entity that counts"),
    ("○", "dim", "an entity below the threshold"),
    ("✕", "dim", "an entity that you muted"),
    ("▲2", "accent", "rose by two ranks since the list last settled"),
    ("▼1", "accent", "fell by one rank"),
)
DRAFT_SIGNS: tuple[Row, ...] = (
    ("+", "entity", "a draft that is new"),
    ("≈", "document", "a draft close to a known fact"),
    ("=", "dim", "a draft that is already known"),
    ("!", "bad", "a draft that contradicts a known fact"),
    ('"', "dim", "a draft that repeats an earlier one"),
)

FILTERS = 'type:meeting  tag:ops  from:2026-03  in:notes  @name  -word  "exact words"'
"""Filters of a query, by example."""


class Help(ModalScreen[None]):
    BINDINGS = bindings("overlay")

    def __init__(self, screen: Screen[Any], keymap: Keymap) -> None:
        super().__init__()
        scopes: tuple[Scope, ...] = ("welcome", "list", "app")
        self.meanings: tuple[tuple[str, str], ...] = ()
        if isinstance(screen, FrameScreen):
            scopes, self.meanings = screen.scopes(), tuple(screen.meanings())
        elif isinstance(screen, ModeBox):
            scopes = screen.SCOPES
        if keymap.reason:
            self.meanings = (("5 6 7 8 9", keymap.reason), *self.meanings)
        self.filter = OrderedInput(
            f"{keymap.key_of('overlay.filter')} finds a key, here or elsewhere, by a word"
        )
        self.text = HelpText(lambda width: self._lines(scopes, keymap, width))

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            means = "What this means, and the keys here"
            box.border_title = means if self.meanings else "Keys here"
            yield self.text
            yield self.filter

    def on_mount(self) -> None:
        self.set_focus(self.text)
        self.text.show_more()

    def _lines(self, scopes: Sequence[Scope], keymap: Keymap, width: int) -> list[Line]:
        wanted = self.filter.value.strip()
        meanings = () if wanted else self.meanings
        return [*meaning_lines(meanings, width), *help_lines(scopes, keymap, width, wanted)]

    def on_input_changed(self) -> None:
        self.text.scroll_to_line(0)
        self.text.rebuild_lines()

    def on_input_submitted(self) -> None:
        self.set_focus(self.text)

    def action_filter(self) -> None:
        self.set_focus(self.filter)

    def action_close(self) -> None:
        if self.filter.value:
            self.filter.value = ""
            self.set_focus(self.text)
        else:
            self.dismiss()


class HelpText(TextPane):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "bad")
    app = getters.app(TerminalApp)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.show_more()

    def rebuild_lines(self) -> None:
        super().rebuild_lines()
        self.show_more()

    def show_more(self) -> None:
        more = self.scroll_offset.y + self.visible_height < self.virtual_size.height
        field = self.screen.query_one(OrderedInput)
        does = "shows all again" if field.value else "closes"
        closes = f"{self.app.keymap.key_of('overlay.close')} {does}"
        if isinstance(self.parent, Vertical):
            self.parent.border_subtitle = f"↓ more · {closes}" if more else closes


def meaning_lines(meanings: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lines: list[Line] = [BLANK] if meanings else []
    for label, sentence in meanings:
        if cell_len(label) <= KEY_WIDTH:
            lines += _rows([(label, "strong", sentence)], width)
            continue
        rows = wrap(label, max(width - 2, 10))
        lines += [(Span(f" {row}", "strong"),) for row in rows]
        lines += [(Span(f"   {row}"),) for row in wrap(sentence, max(width - 4, 10))]
    return lines


def everyday_first(scopes: Sequence[Scope]) -> list[Scope]:
    """Return scopes with those of moving, all modes, judging and menus after the others."""
    late = ("list", "text", "jump", "app", *JUDGING)
    return sorted(scopes, key=lambda s: (s in MENU_OF, late.index(s) if s in late else -1))


def help_lines(scopes: Sequence[Scope], keymap: Keymap, width: int, wanted: str = "") -> list[Line]:
    """Return the commands of `scopes`: keys on the left, help on the right.

    With `wanted`, the rows of all commands that have this text, in the id of the command at least.
    """

    def section(title: str, rows: Mapping[Row, str]) -> list[Line]:
        kept = [
            row
            for row, also in rows.items()
            if wanted.lower() in f"{row[0]} {row[2]} {also}".lower()
        ]
        return [BLANK, (Span(f" {title}", "strong"),), *_rows(kept, width)] if kept else []

    def of(scope: Scope) -> list[Line]:
        rows: dict[Row, str] = {
            (keymap.display_keys(command), "accent", command.help): command.id
            for command in keymap.commands_in(scope)
        }
        return section(SCOPE_TITLES[scope], rows)

    scopes = everyday_first(scopes)
    others = [scope for scope in SCOPE_TITLES if wanted and scope not in {"overlay", *scopes}]
    lines = [line for scope in scopes for line in of(scope)]
    if {"query", "results"} & {*scopes}:
        lines += section("Filters in a query", {("", "text", FILTERS): ""})
    if wanted or {"query", "screen"} & {*scopes}:
        lines += section("Signs", dict.fromkeys(RESULT_SIGNS, ""))
    if wanted or {"draft_line", "review"} & {*scopes}:
        lines += section("Signs of drafts", dict.fromkeys(DRAFT_SIGNS, ""))
    moved = " · ".join(
        f"{display_key(key)}: {keymap.display_keys(command)}"
        for command in keymap.commands_in(*scopes)
        for key in filter(None, command.moved.split(","))
        if not keymap.has_key(key, *scopes)
    )
    lines += section("Keys that moved, which still work", {("", "dim", moved): ""} if moved else {})
    if elsewhere := [line for scope in others for line in of(scope)]:
        lines += [BLANK, (Span(" Elsewhere", "accent"),), *elsewhere]
    return lines or [BLANK, (Span(f" no key or sign has “{wanted}”", "dim"),)]


def _rows(rows: Iterable[Row], width: int) -> list[Line]:
    lines: list[Line] = []
    for sign, look, words in rows:
        first, *rest = wrap(words, max(width - KEY_WIDTH - 2, 10))
        lines.append((Span(f" {fit(sign, max(KEY_WIDTH, cell_len(sign)))} ", look), Span(first)))
        lines += [(Span(" " * (KEY_WIDTH + 2)), Span(line)) for line in rest]
    return lines
