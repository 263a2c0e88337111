"""The keys that work where one is, from the registry of commands; then all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.screen import ModalScreen, Screen

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import SCOPE_TITLES, Scope, commands_in
from kbx_tui.tui.drawing.cell_text import fit, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, looks
from kbx_tui.tui.shell.mode_screen import ModeScreen
from kbx_tui.tui.widgets.lines_view import TextPane

KEY_WIDTH = 12

SIGNS: tuple[tuple[str, Look, str], ...] = (
    ("██", "document", "what the document's own text adds to its score"),
    ("▒▒", "entity", "what its link to the entities in the query adds"),
    ("●", "entity", "an entity that counts"),
    ("○", "dim", "one that does not: below the threshold"),
    ("✕", "dim", "one that you left out"),
    ("+", "entity", "a draft that says something new"),
    ("≈", "document", "one that is near to what is known"),
    ("=", "dim", "one that is known word for word"),
    ("!", "bad", "one that contradicts what is known"),
    ("⧉", "dim", "one that repeats an earlier draft"),
    ("▲2", "accent", "rose by two ranks since things last stood still"),
    ("▼1", "accent", "fell by one"),
)

TOUR: tuple[str, ...] = (
    "Open the demo, or a folder of markdown of your own. Nothing in it is changed.",
    "Type a person and a topic: entities appear on the left, documents in the middle.",
    "Go down to a result. On the right stands why it is there, in numbers that add up.",
    "[ and ] move alpha between what a document says and whom it is about; { and } move the"
    " threshold that decides which entities count.",
    "f limits the search to a folder; m compares two-pass with flat and fast search.",
    "Enter reads a document, o opens it in your editor, ? shows the keys of any place.",
)
"""Six steps for someone new."""


class Help(ModalScreen[None]):
    """An overlay; its own keys close or scroll it."""

    BINDINGS = bindings("overlay")

    def __init__(self, screen: Screen[Any], keymap: Keymap) -> None:
        super().__init__()
        self.keymap = keymap
        self.scopes: tuple[Scope, ...] = ("welcome", "list", "app")
        self.tour = TOUR
        if isinstance(screen, ModeScreen):
            self.scopes, self.tour = screen.scopes(), ()

    def compose(self) -> ComposeResult:
        yield HelpText(self.scopes, self.keymap, self.tour)

    def on_mount(self) -> None:
        text = self.query_one(HelpText)
        text.border_title = "A tour in six steps" if self.tour else "Keys here"
        text.show_more()

    def action_close(self) -> None:
        self.dismiss()


class HelpText(TextPane):
    """The keys of some scopes first, then of all others."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "bad")

    def __init__(self, scopes: Sequence[Scope], keymap: Keymap, tour: Sequence[str] = ()) -> None:
        super().__init__()
        self.scopes, self.keymap, self.tour = tuple(scopes), keymap, tuple(tour)

    def build(self, width: int) -> list[Line]:
        return [*tour_lines(self.tour, width), *help_lines(self.scopes, self.keymap, width)]

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.show_more()

    def lines_changed(self) -> None:
        super().lines_changed()
        self.show_more()

    def show_more(self) -> None:
        """Say in the border whether there is more below."""
        more = self.scroll_offset.y + self.line_room < self.virtual_size.height
        self.border_subtitle = "↓ more · esc closes" if more else "esc closes"


def tour_lines(tour: Sequence[str], width: int) -> list[Line]:
    """Return numbered steps."""
    lines: list[Line] = [BLANK] if tour else []
    for number, words in enumerate(tour, 1):
        first, *rest = wrap(words, max(width - 5, 10))
        lines.append((Span(f" {number}  ", "accent"), Span(first)))
        lines += [(Span("    "), Span(line)) for line in rest]
    return lines


def help_lines(scopes: Sequence[Scope], keymap: Keymap, width: int) -> list[Line]:
    """Return every command, those of `scopes` first: keys on the left, what they do right."""
    others = [scope for scope in SCOPE_TITLES if scope not in (*scopes, "overlay")]
    lines = [line for scope in scopes for line in _scope_lines(scope, keymap, width)]
    lines += [BLANK, (Span(" Signs", "strong"),), *_rows(SIGNS, width)]
    if others:
        lines += [BLANK, (Span(" Elsewhere", "accent"),)]
        lines += [line for scope in others for line in _scope_lines(scope, keymap, width)]
    return lines


def _scope_lines(scope: Scope, keymap: Keymap, width: int) -> list[Line]:
    rows = [(keymap.shown(one), "accent", one.help) for one in commands_in(scope)]
    return [BLANK, (Span(f" {SCOPE_TITLES[scope]}", "strong"),), *_rows(rows, width)]  # type: ignore[arg-type]


def _rows(rows: Iterable[tuple[str, Look, str]], width: int) -> list[Line]:
    lines: list[Line] = []
    for sign, look, words in rows:
        first, *rest = wrap(words, max(width - KEY_WIDTH - 2, 10))
        lines.append((Span(f" {fit(sign, max(KEY_WIDTH, cell_len(sign)))} ", look), Span(first)))
        lines += [(Span(" " * (KEY_WIDTH + 2)), Span(line)) for line in rest]
    return lines
