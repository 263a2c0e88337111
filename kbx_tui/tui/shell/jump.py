"""Jump mode: a letter on every pane and field leads there. Loaded when first used."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Label

from kbx_tui.tui.shell.overlay import Overlay

LETTERS = "asdfghjklqwertzuiopyxcvbnm"


class Jump(ModalScreen[Widget | None], Overlay[Widget | None]):
    """Dismissed with the widget of the letter that was pressed; None for esc."""

    # With priority, so that keys typed at once act in order.
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(letter, f"go({letter!r})", show=False, priority=True) for letter in LETTERS),
        Binding("escape", "go('')", show=False, priority=True),
    ]

    def __init__(self, below: Screen[None]) -> None:
        super().__init__()
        self.size_of_labels = below.app.size
        # In the order of the screen, not of regions as in the focus chain: a pane that was just
        # shown has none yet, so the letters of others would change when it gets its own.
        chain = set(below.focus_chain)
        panes = filter(chain.__contains__, below.query("*"))
        self.targets = dict(zip(LETTERS, panes, strict=False))

    def compose(self) -> ComposeResult:
        for letter, pane in self.targets.items():
            label = Label(f" {letter} ")
            label.styles.offset = pane.region.offset
            yield label

    def action_go(self, letter: str) -> None:
        self.dismiss(self.targets.get(letter))

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self) -> None:
        if self.app.size != self.size_of_labels:
            self.dismiss(None)
