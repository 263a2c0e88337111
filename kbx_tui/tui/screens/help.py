"""All keys, from the registry of commands."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.screen import ModalScreen

from kbx_tui.tui.commands import SCOPE_TITLES, bindings, commands_in
from kbx_tui.tui.drawing import BLANK, Line, Look, Span, looks
from kbx_tui.tui.text import fit, wrap
from kbx_tui.tui.widgets.lines_view import TextPane

KEY_WIDTH = 12


class Help(ModalScreen[None]):
    """An overlay; any of its keys closes it."""

    BINDINGS = bindings("overlay")

    def compose(self) -> ComposeResult:
        yield HelpText()

    def on_mount(self) -> None:
        self.query_one(HelpText).border_title = "Keys"
        self.query_one(HelpText).border_subtitle = "esc closes"

    def action_close(self) -> None:
        self.dismiss()


class HelpText(TextPane):
    """The keys, scope by scope."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity")

    def build(self, width: int) -> list[Line]:
        return help_lines(width)


def help_lines(width: int) -> list[Line]:
    """Return every command: keys on the left, what they do on the right."""
    lines: list[Line] = []
    for scope, title in SCOPE_TITLES.items():
        commands = list(commands_in(scope))
        if scope == "overlay" or not commands:
            continue
        lines += [BLANK, (Span(f" {title}", "strong"),)]
        for command in commands:
            first, *rest = wrap(command.help, max(width - KEY_WIDTH - 2, 10))
            key = fit(command.shown, max(KEY_WIDTH, cell_len(command.shown)))
            lines.append((Span(f" {key} ", "accent"), Span(first)))
            lines += [(Span(" " * (KEY_WIDTH + 2)), Span(line)) for line in rest]
    return [*_signs(width), *lines]


def _signs(width: int) -> list[Line]:
    signs: tuple[tuple[str, Look, str], ...] = (
        ("██", "document", "what the document's own text adds to its score"),
        ("▒▒", "entity", "what its link to the entities in the query adds"),
        ("●", "entity", "an entity that counts"),
        ("○", "dim", "one that does not: below the threshold"),
        ("▲2", "accent", "rose by two ranks since things last stood still"),
        ("▼1", "accent", "fell by one"),
    )
    lines: list[Line] = [BLANK, (Span(" Signs", "strong"),)]
    for sign, look, words in signs:
        first, *rest = wrap(words, max(width - KEY_WIDTH - 2, 10))
        lines.append((Span(f" {fit(sign, KEY_WIDTH)} ", look), Span(first)))
        lines += [(Span(" " * (KEY_WIDTH + 2)), Span(line)) for line in rest]
    return lines
