"""The facets of the results, in a box above explore; each choice narrows the query by a filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.facet_list import FacetList, FacetRow, facet_rows
from kbx_tui.tui.shell.frame_screen import BoxScreen, ModeScreen

if TYPE_CHECKING:
    from kbx_tui.search.results.facets import Facets


class FacetBox(BoxScreen[None]):
    BINDINGS = bindings("facet_box")
    SCOPES = ("facets", "list", "facet_box", "app")
    AUTO_FOCUS = "FacetList"

    def __init__(self, below: ModeScreen, narrow: Callable[[FacetRow], object]) -> None:
        super().__init__()
        self._below, self._model, self._narrow = below, below.session.explore, narrow
        self._counting = LatestOnly(below.session.client)

    def compose(self) -> ComposeResult:
        with Vertical(id="facets"):
            yield FacetList()

    def on_mount(self) -> None:
        self._model.on_ranking = self._count
        self._count()

    def on_unmount(self) -> None:
        self._model.on_ranking = lambda: None
        self._counting.cancel()

    # Counting.

    def _count(self) -> None:
        self._counting.start(self._read())

    async def _read(self) -> None:
        ranking = self._model.displayed.ranking
        if ranking is None:
            return
        facets = await self._below.session.client.run(
            lambda engine: engine.documents.facets(ranking)
        )
        if self.is_attached:
            self._show(facets)

    def _show(self, facets: Facets) -> None:
        query, keymap = self._model.state.query, self._below.app.keymap
        rows = facet_rows(facets, query)
        self.query_one(FacetList).show(rows, facets.months, facets.total)
        take, undo, close = map(keymap.key_of, ("facets.take", "facets.undo", "facets.close"))
        box = self.query_one("#facets", Vertical)
        box.border_title = Content(f"{facets.total:,} results of “{safe_line(query)}”")
        box.border_subtitle = Content(f"{take} narrow · {undo} undo · {close} close")

    # What the user does.

    @on(FacetList.Taken)
    def narrow(self, event: FacetList.Taken) -> None:
        self._narrow(event.row)

    def action_undo(self) -> None:
        self._model.undo()

    def action_close(self) -> None:
        self.dismiss(None)
