"""The pane that shows exactly what a draft would write."""

from __future__ import annotations

from textual.content import Content

from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, looks
from kbx_tui.tui.widgets.lines_view import TextPane


class DiffPane(TextPane):
    """The reason for the state of a draft, above its unified diff."""

    COMPONENT_CLASSES = looks("entity", "bad", "rule")

    reason = ""
    lines: tuple[str, ...] = ()
    _first_change = 0
    """Row of the first changed line, or 0."""

    def explain(self, reason: str) -> None:
        """Show the reason for the state of the draft."""
        self.reason = reason
        self.rebuild_lines()

    def show(self, lines: tuple[str, ...]) -> None:
        """Show a diff, scrolled to its first change."""
        self.lines = lines
        paths = [line.removeprefix("+++ ") for line in lines if line.startswith("+++ ")]
        self.border_subtitle = Content(", ".join(paths))
        self.rebuild_lines()
        is_hidden = self._first_change >= self.visible_height
        self.scroll_to_line(self._first_change - 1 if is_hidden else 0)

    def build(self, width: int) -> list[Line]:
        room = max(width - 1, 8)
        rows: list[Line] = []
        if self.reason:
            rows = [*((Span(f" {row}", "dim"),) for row in wrap(self.reason, room)), BLANK]
        self._first_change = 0
        for line in self.lines:
            look = look_of(line)
            if look in ("entity", "bad") and not self._first_change:
                self._first_change = len(rows)
            rows += [(Span(f" {row}", look),) for row in diff_rows(line, room)]
        return rows


def look_of(line: str) -> Look:
    """Return the style of a line of a diff."""
    if line.startswith(("+++", "---", "@@")):
        return "rule"
    return "entity" if line.startswith("+") else "bad" if line.startswith(("-", "✗")) else "dim"


def diff_rows(line: str, width: int) -> list[str]:
    """Return a line of a diff wrapped, its sign set apart: `-- old` becomes `- │ - old`."""
    if look_of(line) == "rule" or line[:1] not in ("+", "-", " "):
        return wrap(line, width)
    first, *rest = wrap(line[1:], max(width - 4, 4)) or [""]
    return [f"{line[0]} │ {first}", *(f"  │ {row}" for row in rest)]
