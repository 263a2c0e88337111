"""What would be written, exactly: the diff of a file."""

from __future__ import annotations

from textual.content import Content

from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, looks
from kbx_tui.tui.widgets.lines_view import TextPane


class DiffPane(TextPane):
    """Lines of a unified diff; `+` is added, `-` goes."""

    COMPONENT_CLASSES = looks("entity", "bad", "rule")

    def __init__(self) -> None:
        super().__init__()
        self.reason = ""
        self.lines: tuple[str, ...] = ()
        self._first = 0

    def explain(self, reason: str) -> None:
        """Say why the draft is what it is, above the diff."""
        self.reason = reason
        self.lines_changed()

    def show(self, lines: tuple[str, ...]) -> None:
        """Show this diff, from its first line that changes on."""
        self.lines = lines
        paths = [line.removeprefix("+++ ") for line in lines if line.startswith("+++ ")]
        self.border_subtitle = Content(", ".join(paths))
        self.lines_changed()
        self.scroll_line(self._first - 1 if self._first >= self.line_room else 0)

    def build(self, width: int) -> list[Line]:
        room = max(width - 1, 8)
        rows: list[Line] = []
        if self.reason:
            rows += [(Span(f" {row}", "dim"),) for row in wrap(self.reason, room)]
            rows.append(BLANK)
        self._first = 0
        for line in self.lines:
            look = look_of(line)
            if look in ("entity", "bad") and not self._first:
                self._first = len(rows)
            rows += [(Span(f" {row}", look),) for row in wrap(line, room)]
        return rows


def look_of(line: str) -> Look:
    """Return how a line of a diff looks."""
    if line.startswith(("+++", "---", "@@")):
        return "rule"
    if line.startswith("✗"):
        return "bad"
    return "entity" if line.startswith("+") else "bad" if line.startswith("-") else "dim"
