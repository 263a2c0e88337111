"""The line at the top of every mode: the modes as tabs, and the open base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual import events
from textual.message import Message

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, Span, looks, width_of
from kbx_tui.tui.shell.tabs import TabText, fit_tabs, tab_at, tab_line, tab_texts
from kbx_tui.tui.widgets.line_widget import LineWidget


class ModeTabs(LineWidget):
    """The tabs, which can be clicked; the current one is marked."""

    COMPONENT_CLASSES = looks("accent", "tab")

    @dataclass
    class Chosen(Message):
        """The user clicked the tab of another mode."""

        mode: str

    def __init__(self, current: str) -> None:
        super().__init__()
        self.current = current
        self.keymap = Keymap()
        self.counts: Mapping[str, str] = {}
        self.base = ("", "")
        """The name of the base, and what it holds."""

    def use(self, keymap: Keymap) -> None:
        """Show the keys of this keymap."""
        self.keymap = keymap
        self.refresh()

    def show(self, counts: Mapping[str, str], base: tuple[str, str]) -> None:
        """Show these counts beside the titles, and this base on the right."""
        if (counts, base) != (self.counts, self.base):
            self.counts, self.base = counts, base
            self.refresh()

    def line(self, width: int) -> Line:
        texts, right = self._fitted(width)
        line = tab_line(texts)
        gap = " " * (width - width_of(line) - width_of((Span(right),)) - 1)
        return (*line, Span(gap), Span(right, "dim"))

    def on_click(self, event: events.Click) -> None:
        texts, _ = self._fitted(self.size.width)
        tab = tab_at(texts, event.x)
        if tab is not None and not tab.is_current:
            self.post_message(self.Chosen(tab.mode))

    def _fitted(self, width: int) -> tuple[list[TabText], str]:
        return fit_tabs(tab_texts(self.current, self.keymap, self.counts), self.base, width)
