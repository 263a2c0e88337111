"""Which pane of the explore screen has the focus, and which are shown."""

from __future__ import annotations

from textual.screen import Screen

from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.explore.panes.pane_layout import Pane, Panes
from kbx_tui.tui.reading.preview_pane import PreviewPane

HIDEABLE = ("why", "entities", "preview")


class PaneSwitch:
    """Moves between panes, hides and shows them."""

    def __init__(self, screen: Screen[None], app_state: AppState) -> None:
        self._screen, self._app_state = screen, app_state

    @property
    def panes(self) -> Panes:
        """The container of the panes."""
        return self._screen.query_one(Panes)

    def focus(self, pane: Pane) -> None:
        """Show a pane and move the focus there."""
        self.panes.show_pane(pane)
        self._screen.set_focus(self.panes.pane(pane))  # at once: the next key may be waiting

    def focus_next(self, step: int) -> None:
        """Move the focus to the next pane, or the previous one."""
        pane = self.panes.name_of(self._screen.focused)
        if self._screen.has_class("-small") and pane is not None:
            self.focus(self.panes.beside(pane, step))
        elif step > 0:
            self._screen.focus_next()
        else:
            self._screen.focus_previous()

    def show_focused(self) -> None:
        """On a small terminal, show the pane that has the focus."""
        if (pane := self.panes.name_of(self._screen.focused)) is not None:
            self.panes.show_pane(pane)

    def focus_entities(self) -> None:
        """Show the entities, even if they were hidden, and go there."""
        self.panes.remove_class("-no-entities")
        self._save_hidden()
        self.focus("entities")

    def toggle_why(self) -> None:
        """Show or hide the why pane; where only one pane fits, move the focus there or back."""
        if self._screen.has_class("-small"):
            self._go_or_return("why")
        else:
            self._toggle("why")

    def toggle_entities(self) -> None:
        """Show or hide the entities; without a separate column, move the focus there or back."""
        if self._screen.has_class("-wide"):
            self._toggle("entities")
        else:
            self._go_or_return("entities")

    def toggle_live_preview(self) -> None:
        """Show or hide the preview of the document under the cursor."""
        self.panes.toggle_class("-no-preview")
        self._save_hidden()
        self.panes.fit(self._screen.app.size)
        if not self.panes.is_live and isinstance(self._screen.focused, PreviewPane):
            self.focus("results")

    def restore_hidden(self) -> None:
        """Hide what was hidden when the base was last open."""
        for pane in HIDEABLE:
            self.panes.set_class(pane in self._app_state.base.hidden, f"-no-{pane}")
        self.panes.fit(self._screen.app.size)

    def _go_or_return(self, pane: Pane) -> None:
        self.focus("results" if self.panes.shown_pane == pane else pane)

    def _toggle(self, pane: Pane) -> None:
        focused = self._screen.focused
        self.panes.toggle_class(f"-no-{pane}")
        if self.panes.name_of(focused) in self._save_hidden():
            self.focus("results")

    def _save_hidden(self) -> list[str]:
        hidden: list[str] = [pane for pane in HIDEABLE if self.panes.has_class(f"-no-{pane}")]
        self._app_state.base.hidden = hidden
        return hidden
