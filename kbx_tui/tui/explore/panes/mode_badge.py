"""The badge that says which kind of search ran and why."""

from __future__ import annotations

from rich.cells import cell_len

from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import Line, Span, looks
from kbx_tui.tui.widgets.line_widget import LineWidget


class ModeBadge(LineWidget):
    """Shows the longest badge text that fits."""

    COMPONENT_CLASSES = looks("document", "entity")

    candidates: tuple[str, ...] = ()
    """The possible texts, longest first."""
    busy = False

    def show(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        """Show the longest of these texts that fits; all of it dimmed when `busy`."""
        self.candidates, self.busy = candidates, busy
        self.refresh()

    @property
    def text(self) -> str:
        """The text on screen."""
        return longest_that_fits(self.candidates, self.size.width)

    def line(self, width: int) -> Line:
        text = longest_that_fits(self.candidates, width)
        if self.busy:
            return (Span(text, "dim"),)
        name, dot, rest = text.partition(" · ")
        return (Span(name, "entity" if name == "two-pass" else "document"), Span(dot + rest, "dim"))


def longest_that_fits(candidates: tuple[str, ...], width: int) -> str:
    """Return the first candidate of at most `width` cells, else the last one, shortened."""
    shortest = shorten(candidates[-1], width) if candidates else ""
    return next((text for text in candidates if cell_len(text) <= width), shortest)
