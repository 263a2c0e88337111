"""The chip that says which time the query asks for, and the keys that change what it does."""

from __future__ import annotations

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks
from kbx_tui.tui.explore.view import DatesView
from kbx_tui.tui.widgets.line_widget import LineWidget


class DateChip(LineWidget):
    """Lies over the border below the query; hidden where the query has no date words."""

    COMPONENT_CLASSES = looks("accent", "strong")
    DEFAULT_CSS = "DateChip { display: none; }"

    chip: Line = BLANK

    def show(self, dates: DatesView, keymap: Keymap) -> None:
        """Show these dates, and the keys of this keymap."""
        shown, self.chip = self.chip, chip_line(dates, keymap)
        self.display = True
        if self.chip != shown:
            self.refresh(layout=True)

    def hide(self) -> None:
        """Show nothing: there is no query, or it has no date words."""
        self.display = False

    def line(self, width: int) -> Line:
        return self.chip


def chip_line(dates: DatesView, keymap: Keymap) -> Line:
    """Return the time, what it does, and the keys that change that."""
    off, only = keymap.key_of("dates.off"), keymap.key_of("dates.only")
    if dates.use == "off":
        return (Span(" date words are not read", "dim"), *_key(off, "read them"))
    if not dates.words:
        undated = f" no document is dated {safe_line(dates.undated)}"
        return (Span(undated, "dim"), *_key(off, "do not read it"))
    words = Span(dates.words, "strong")
    if dates.use == "filter":
        return (Span(" only "), words, *_key(only, "prefer"), *_key(off, "remove"))
    return (Span(" prefers "), words, *_key(off, "remove"), *_key(only, "only"))


def _key(key: str, label: str) -> Line:
    return (Span("  "), Span(key, "accent"), Span(f" {label}", "dim"))
