"""The chip that says which time the query asks for, and the keys that change what it does."""

from __future__ import annotations

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, Span, looks
from kbx_tui.tui.explore.panes.chip_line import ChipLine
from kbx_tui.tui.explore.view import DatesView


class DateChip(ChipLine):
    """Lies over the border below the query; hidden where the query has no date words."""

    COMPONENT_CLASSES = looks("accent", "strong")
    DEFAULT_CSS = "DateChip { display: none; }"

    def show(self, dates: DatesView, keymap: Keymap) -> None:
        """Show these dates, and the keys of this keymap."""
        shown = self.chips
        self.without_keys, keys = chip_words(dates), chip_keys(dates, keymap)
        self.chips = (*self.without_keys, *keys)
        self.display = True
        if self.chips != shown:
            self.refresh(layout=True)

    def hide(self) -> None:
        """Show nothing: there is no query, or it has no date words."""
        self.display = False


def chip_words(dates: DatesView) -> Line:
    """Return the time, and what it does."""
    if dates.use == "off":
        return (Span(" date words are not read", "dim"),)
    if not dates.words:
        return (Span(f" no document is dated {safe_line(dates.undated)}", "dim"),)
    return (Span(" only " if dates.use == "filter" else " prefers "), Span(dates.words, "strong"))


def chip_keys(dates: DatesView, keymap: Keymap) -> Line:
    """Return the keys that change what the time does."""
    off, only = keymap.key_of("dates.off"), keymap.key_of("dates.only")
    if dates.use == "off":
        return _key(off, "read them")
    if not dates.words:
        return _key(off, "do not read it")
    if dates.use == "filter":
        return (*_key(only, "prefer"), *_key(off, "remove"))
    return (*_key(off, "remove"), *_key(only, "only"))


def _key(key: str, label: str) -> Line:
    return (Span("  "), Span(key, "accent"), Span(f" {label}", "dim"))
