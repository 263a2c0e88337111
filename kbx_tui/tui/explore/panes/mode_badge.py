"""What kind of search this was and why, in as many words as there is room for."""

from __future__ import annotations

from rich.cells import cell_len

from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import Line, Span, looks
from kbx_tui.tui.widgets.line_widget import LineWidget


class ModeBadge(LineWidget):
    """One line; the longest wording that fits."""

    COMPONENT_CLASSES = looks("document", "entity")

    def __init__(self) -> None:
        super().__init__()
        self.candidates: tuple[str, ...] = ()
        """Wordings, longest first."""
        self.busy = False

    def show(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        """Show the first of these wordings that fits."""
        self.candidates, self.busy = candidates, busy
        self.refresh()

    @property
    def wording(self) -> str:
        """What stands on the screen now."""
        return choose(self.candidates, self.size.width)

    def line(self, width: int) -> Line:
        return badge_line(choose(self.candidates, width), self.busy)


def choose(candidates: tuple[str, ...], width: int) -> str:
    """Return the first of `candidates` that takes at most `width` cells, the last one cut to it."""
    for words in candidates:
        if cell_len(words) <= width:
            return words
    return shorten(candidates[-1], width) if candidates else ""


def badge_line(words: str, busy: bool) -> Line:
    """Return the mode's name in its look, the rest dim."""
    if busy:
        return (Span(words, "dim"),)
    name, dot, rest = words.partition(" · ")
    return (Span(name, "entity" if name == "two-pass" else "document"), Span(dot + rest, "dim"))
