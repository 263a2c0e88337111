"""The chip that shows the settings of a search which no other pane shows."""

from __future__ import annotations

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, looks
from kbx_tui.tui.widgets.line_widget import LineWidget


class FilterChip(LineWidget):
    """One line below the query; hidden where there are no such settings."""

    COMPONENT_CLASSES = looks("accent", "strong")
    DEFAULT_CSS = "FilterChip { display: none; }"

    chip: Line = BLANK

    def show(self, words: str, keymap: Keymap) -> None:
        """Show the settings in words; hide the chip if there are none."""
        self.display = bool(words)
        self.chip = (
            Span(" "),
            Span(safe_line(words), "strong"),
            Span(f"  {keymap.key_of('undo')}", "accent"),
            Span(" undo", "dim"),
        )
        self.refresh()

    def line(self, width: int) -> Line:
        return self.chip
