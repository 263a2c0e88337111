"""The panes of the explore screen, and which of them are shown where room is short.

Classes on this container decide, in `styles/explore.tcss`: `-pane-...` names the pane a narrow
terminal shows, `-preview` puts the document in the place of why, `-no-why` hides why, and `-idle`
says that there is nothing to explain yet.
"""

from __future__ import annotations

from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget

from kbx_tui.tui.widgets.entity_list import EntityList
from kbx_tui.tui.widgets.lines_view import LinesView
from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.why_pane import WhyPane

Pane = Literal["results", "entities", "why"]
PANES: dict[Pane, type[LinesView]] = {
    "results": ResultList,
    "entities": EntityList,
    "why": WhyPane,
}
"""In the order Tab goes where one is shown at a time."""


class Panes(Horizontal):
    """Entities, results, why, and a document in the place of why."""

    def __init__(self) -> None:
        super().__init__(classes="-pane-results -idle")

    def compose(self) -> ComposeResult:
        entities, results, why = EntityList(), ResultList(), WhyPane()
        entities.border_title, results.border_title, why.border_title = "Entities", "Results", "Why"
        yield entities
        yield results
        yield why
        yield PreviewPane()

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
        """Let this be the pane that a narrow terminal shows."""
        if not self.has_class(f"-pane-{name}"):
            self.remove_class(*(f"-pane-{other}" for other in PANES))
            self.add_class(f"-pane-{name}")

    @property
    def shown_pane(self) -> Pane:
        """The pane that a narrow terminal shows."""
        return next(name for name in PANES if self.has_class(f"-pane-{name}"))

    @property
    def reading(self) -> bool:
        """Whether a document is open."""
        return self.has_class("-preview")
