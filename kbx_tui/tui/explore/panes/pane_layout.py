"""The panes of the explore screen, and which of them are shown where room is short.

Classes on this container decide, in `styles/explore.tcss`: `-pane-...` names the pane a small
terminal shows, `-reading` puts what is read (a document or an entity card) in the place of why,
`-no-why` and `-no-entities` hide a pane, and `-idle` says that there is nothing to explain yet.
"""

from __future__ import annotations

from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget

from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.lines_view import LinesView

Pane = Literal["results", "entities", "why"]
PANES: dict[Pane, type[LinesView]] = {
    "results": ResultList,
    "entities": EntityList,
    "why": WhyPane,
}
"""In the order Tab goes where one is shown at a time."""
Read = Literal["document", "card"]
READERS: dict[Read, type[LinesView]] = {"document": PreviewPane, "card": EntityCard}


class Panes(Horizontal):
    """Entities, results, why, and what is read in the place of why."""

    def __init__(self) -> None:
        super().__init__(classes="-pane-results -idle")

    def compose(self) -> ComposeResult:
        entities, results, why = EntityList(), ResultList(), WhyPane()
        entities.border_title, results.border_title, why.border_title = "Entities", "Results", "Why"
        yield entities
        yield results
        yield why
        yield PreviewPane()
        yield EntityCard()

    def pane(self, name: Pane) -> LinesView:
        """Return the widget of a pane."""
        return self.query_one(PANES[name])

    def name_of(self, widget: Widget | None) -> Pane | None:
        """Return which pane `widget` is, if it is one."""
        return next((name for name, kind in PANES.items() if isinstance(widget, kind)), None)

    def beside(self, name: Pane, step: int) -> Pane:
        """Return the pane `step` further than `name`, round and round."""
        names = list(PANES)
        return names[(names.index(name) + step) % len(names)]

    def show_pane(self, name: Pane) -> None:
        """Let this be the pane that a small terminal shows; a wide one shows all anyway."""
        if not (self.has_class(f"-pane-{name}") or self.screen.has_class("-wide")):
            self.remove_class(*(f"-pane-{other}" for other in PANES), update=False)
            self.add_class(f"-pane-{name}")

    def show_reader(self, read: Read | None) -> None:
        """Show a document, a card, or why again."""
        self.set_class(read is not None, "-reading")
        for name in READERS:
            self.set_class(name == read, f"-{name}")

    @property
    def shown_pane(self) -> Pane:
        """The pane that a small terminal shows."""
        return next(name for name in PANES if self.has_class(f"-pane-{name}"))

    @property
    def read(self) -> Read | None:
        """What is being read."""
        return next((name for name in READERS if self.has_class(f"-{name}")), None)
