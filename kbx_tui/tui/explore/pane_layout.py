"""The panes of the explore screen: which of them are visible, and which has the focus.

`styles/explore.tcss` shows and hides panes by the classes of their container: `-pane-...` names
the one pane a small terminal shows, `-reading` replaces the why pane with the reader (a document
or an entity card), `-no-why` and `-no-entities` hide a pane, and `-idle` means that there is
nothing to explain yet. In a narrow terminal, `-why-open` shows the why pane below the line that
sums it up. With `-facets` on the screen, facets replace the entities. `-live` shows the document
under the cursor below the why pane.
"""

from __future__ import annotations

from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.facets import FacetPane
from kbx_tui.tui.explore.inputs import Knobs
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyLine, WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.lines_view import LinesView

Pane = Literal["results", "entities", "why"]
PANES: dict[Pane, type[LinesView]] = {"results": ResultList, "entities": EntityList, "why": WhyPane}
"""The panes in Tab order where one is shown at a time."""
HIDEABLE = ("why", "entities", "preview")
Read = Literal["document", "card"]
READERS: dict[Read, type[LinesView]] = {"document": PreviewPane, "card": EntityCard}


LIVE_WIDTH, LIVE_HEIGHT = 160, 30


class Panes(Horizontal):
    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(classes="-pane-results -idle")
        self._session, self._app_state = session, app_state
        self.has_live_room = False
        self.is_live = False
        """Whether the live preview is on; an open document or card takes its place."""
        self.read: Read | None = None

    def compose(self) -> ComposeResult:
        entities, results, why = EntityList(), ResultList(), WhyPane()
        entities.border_title, results.border_title, why.border_title = "Entities", "Results", "Why"
        with Vertical(id="sidebar"):
            yield from (entities, FacetPane(self._session))
        yield from (results, WhyLine())
        with Vertical(id="side"):
            yield from (why, PreviewPane(), EntityCard())

    def pane(self, name: Pane) -> LinesView:
        if name == "entities" and self.screen.has_class("-facets"):
            return self.query_one(FacetPane)
        return self.query_one(PANES[name])

    def name_of(self, widget: Widget | None) -> Pane | None:
        if isinstance(widget, FacetPane):
            return "entities"
        return next((name for name, kind in PANES.items() if isinstance(widget, kind)), None)

    def show_pane(self, name: Pane) -> None:
        """Make this the pane shown in a small terminal; a wide one shows all panes, except that
        the entities give way to a document."""
        if not self.has_class(f"-pane-{name}"):
            shows_all = self.screen.has_class("-wide") and not self.has_class("-reading")
            self.remove_class(*(f"-pane-{other}" for other in PANES), update=False)
            self.add_class(f"-pane-{name}", update=not shows_all)

    def show_reader(self, read: Read | None, *, alone: bool = False) -> None:
        """Show a document or card, or neither; `alone` hides results that did not lead to it."""
        self.read = read
        self.screen.set_class(read is not None, "-reading")
        self.screen.set_class(alone, "-alone")
        card = self.query_one(EntityCard).card if read == "card" else None
        self.query_one(EntityList).open_id = "" if card is None else card.id
        self.set_class(read is not None, "-reading")
        self._fit_knobs()
        for name in READERS:
            self.set_class(name == read, f"-{name}")

    def is_covered(self, widget: Widget | None) -> bool:
        """Return whether a reader is shown in place of `widget`."""
        name = self.name_of(widget)
        return name == "why" or (name is not None and self.is_results_covered)

    @property
    def is_results_covered(self) -> bool:
        """Return whether a reader, if one is open, takes the place of the results."""
        return not self.screen.has_class("-wide") or self.screen.has_class("-alone")

    @property
    def is_why_open(self) -> bool:
        return self.has_class("-why-open")

    def fit(self, size: Size) -> None:
        self.has_live_room = size.width >= LIVE_WIDTH and size.height >= LIVE_HEIGHT
        self.is_live = self.has_live_room and not self.has_class("-no-preview")
        self.set_class(self.is_live, "-live")
        self._fit_knobs()

    def _fit_knobs(self) -> None:
        for knobs in self.screen.query(Knobs):  # none before the first layout
            knobs.cover(self.read is not None)

    # Moving between panes, and hiding them.

    def go_to(self, name: Pane) -> None:
        self.show_pane(name)
        self.screen.set_focus(self.pane(name))  # at once: the next key may be waiting

    def go_to_next(self, step: int) -> None:
        name, names = self.name_of(self.screen.focused), list(PANES)
        if self.screen.has_class("-small") and name is not None:
            self.go_to(names[(names.index(name) + step) % len(names)])
        elif step > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    def show_focused(self) -> None:
        if (name := self.name_of(self.screen.focused)) is not None:
            self.show_pane(name)

    def go_to_entities(self) -> None:
        self.remove_class("-no-entities")
        self._save_hidden()
        self.go_to("entities")

    def toggle(self, name: Literal["why", "entities"]) -> None:
        """Show or hide a pane; if it does not fit beside the results, focus it or go back."""
        screen = self.screen
        if screen.has_class("-narrow") and name == "why":
            self.toggle_class("-why-open")
            if self.name_of(screen.focused) == "why":
                self.go_to("results")
            return
        if screen.has_class("-small") if name == "why" else not screen.has_class("-wide"):
            self.go_to("results" if self.has_class(f"-pane-{name}") else name)
            return
        focused = screen.focused
        self.toggle_class(f"-no-{name}")
        if self.name_of(focused) in self._save_hidden():
            self.go_to("results")

    def toggle_live_preview(self) -> None:
        self.toggle_class("-no-preview")
        self._save_hidden()
        self.fit(self.app.size)
        if not self.is_live and isinstance(self.screen.focused, PreviewPane):
            self.go_to("results")

    def restore_hidden(self) -> None:
        for name in HIDEABLE:
            self.set_class(name in self._app_state.base.hidden, f"-no-{name}")
        self.fit(self.app.size)

    def _save_hidden(self) -> list[str]:
        hidden: list[str] = [name for name in HIDEABLE if self.has_class(f"-no-{name}")]
        self._app_state.base.hidden = hidden
        return hidden
