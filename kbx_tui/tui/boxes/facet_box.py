"""The facets of the results, in a box above explore; each choice narrows the query by a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.facet_list import FacetList, facet_rows, narrowed, narrowed_to_span
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.shell.frame_screen import BoxScreen

if TYPE_CHECKING:
    from kbx_tui.search.results.facets import Facets


def open_facets(explore: Explore) -> None:
    """Open the box above explore."""
    explore.app.push_screen(FacetBox(explore))


class FacetBox(BoxScreen[None]):
    """An overlay on explore, whose results follow each choice."""

    BINDINGS = bindings("facet_box")
    SCOPES = ("facets", "list", "facet_box", "app")
    AUTO_FOCUS = "FacetList"

    def __init__(self, explore: Explore) -> None:
        super().__init__()
        self._explore = explore
        self._counting = LatestOnly(explore.session.client)

    def compose(self) -> ComposeResult:
        with Vertical(id="facets"):
            yield FacetList()

    def on_mount(self) -> None:
        self._explore.model.on_ranking = self._count
        self._count()

    def on_unmount(self) -> None:
        self._explore.model.on_ranking = lambda: None
        self._counting.cancel()

    @property
    def _query(self) -> str:
        return self._explore.model.state.query

    # Counting.

    def _count(self) -> None:
        self._counting.start(self._read())

    async def _read(self) -> None:
        ranking = self._explore.model.displayed.ranking
        if ranking is None:
            return
        facets = await self._explore.session.client.run(
            lambda engine: engine.documents.facets(ranking)
        )
        if self.is_attached:
            self._show(facets)

    def _show(self, facets: Facets) -> None:
        rows = facet_rows(facets, self._query)
        self.query_one(FacetList).show(rows, facets.months, facets.total)
        keymap = self._explore.navigator.keymap
        take, undo, close = map(keymap.key_of, ("facets.take", "facets.undo", "facets.close"))
        box = self.query_one("#facets", Vertical)
        box.border_title = Content(f"{facets.total:,} results of “{safe_line(self._query)}”")
        box.border_subtitle = Content(f"{take} narrow · {undo} undo · {close} close")

    # What the user does.

    @on(FacetList.Taken)
    def narrow(self, event: FacetList.Taken) -> None:
        self._explore.filters.replace(narrowed(self._query, event.row))

    @on(FacetList.SpanTaken)
    def narrow_to_span(self, event: FacetList.SpanTaken) -> None:
        self._explore.filters.replace(narrowed_to_span(self._query, event.first, event.last))

    def action_undo(self) -> None:
        self._explore.model.undo()

    def action_close(self) -> None:
        self.dismiss(None)
