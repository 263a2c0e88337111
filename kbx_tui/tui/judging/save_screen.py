"""Shows what saving the settings would change in kbx.toml, before it is written."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.screen import ModalScreen

from kbx_tui.safe_text import safe_lines
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import Line, Look, Span, looks
from kbx_tui.tui.widgets.lines_view import TextPane


class SaveSettings(ModalScreen[bool]):
    """An overlay with a diff. Dismissed with whether to write it."""

    BINDINGS = bindings("saving")

    def __init__(self, diff: str, keys: str) -> None:
        """`keys` says which keys write and cancel."""
        super().__init__()
        self.diff, self.keys = diff, keys

    def compose(self) -> ComposeResult:
        yield SettingsDiff(self.diff)

    def on_mount(self) -> None:
        pane = self.query_one(SettingsDiff)
        pane.border_title, pane.border_subtitle = "Save to kbx.toml?", self.keys

    def action_write(self) -> None:
        self.dismiss(True)

    def action_cancel(self) -> None:
        self.dismiss(False)


class SettingsDiff(TextPane):
    """A unified diff."""

    COMPONENT_CLASSES = looks("entity", "bad", "rule")

    def __init__(self, diff: str) -> None:
        super().__init__()
        self.lines = safe_lines(diff)

    def build(self, width: int) -> list[Line]:
        return [
            (Span(f" {row}", _look(line)),)
            for line in self.lines
            for row in wrap(line, max(width - 1, 8))
        ]


def _look(line: str) -> Look:
    if line.startswith(("+++", "---", "@@")):
        return "rule"
    return "entity" if line.startswith("+") else "bad" if line.startswith("-") else "dim"
