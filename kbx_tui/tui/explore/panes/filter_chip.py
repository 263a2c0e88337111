"""The line of chips: the filters typed in the query, and settings which no other pane shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import cell_len
from textual import events
from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks
from kbx_tui.tui.explore.panes.chip_line import ChipLine

CLOSE = " x "
"""The end of a chip."""


class FilterChip(ChipLine):
    """Lies over the border below the query; hidden where there is nothing to show."""

    COMPONENT_CLASSES = looks("accent", "strong", "cursor")
    DEFAULT_CSS = "FilterChip { display: none; }"

    filters: tuple[str, ...] = ()

    @dataclass
    class Removed(Message):
        """The user clicked a filter, to remove it."""

        number: int
        """Counted from 0, in the order of the query."""

    def show(self, filters: Sequence[str], words: str, keymap: Keymap) -> None:
        """Show filters, and settings in words; hide the line if there are neither."""
        self.filters = tuple(filters)
        self.display = bool(filters or words)
        remove = (*_key(keymap.key_of("filter.remove"), "remove last"),) if filters else BLANK
        settings, undo = BLANK, BLANK
        if words:
            settings = (Span("  · " if filters else " "), Span(safe_line(words), "strong"))
            undo = _key(keymap.key_of("undo"), "undo")
        chips = [span for text in filters for span in _chip(text)]
        self.without_keys = (*chips, *settings)
        shown, self.chips = self.chips, (*chips, *remove, *settings, *undo)
        if self.chips != shown:  # laying out the screen for each step of a slider would be slow
            self.refresh(layout=True)

    def hide(self) -> None:
        """Show nothing: there is no query."""
        self.display, self.filters = False, ()

    def on_click(self, event: events.Click) -> None:
        ends = accumulate(sum(cell_len(span.text) for span in _chip(text)) for text in self.filters)
        number = next((number for number, end in enumerate(ends) if event.x < end), None)
        if number is not None:
            self.post_message(self.Removed(number))


def _chip(text: str) -> Line:
    return (Span(" "), Span(f"[{text}", "strong"), Span(CLOSE.rstrip(), "dim"), Span("]", "strong"))


def _key(key: str, label: str) -> Line:
    return (Span("  "), Span(key, "accent"), Span(f" {label}", "dim"))
