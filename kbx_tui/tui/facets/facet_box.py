"""The facets of the results, in a box above explore; each choice narrows the query by a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from kbx_tui.safe_text import safe_line
from kbx_tui.search.query.filters import is_same_value
from kbx_tui.search.query.typed_filters import (
    Key,
    TypedFilter,
    read_filters,
    with_filter,
    without_filter,
)
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.facets.date_span import DateStrip
from kbx_tui.tui.facets.facet_list import FacetList, FacetRow

if TYPE_CHECKING:
    from kbx_tui.search.results.facets import Facets

EDGES = 6
"""Cells beside the strip of dates."""


def open_facets(explore: Explore) -> None:
    """Open the box above explore."""
    explore.app.push_screen(FacetBox(explore))


class FacetBox(ModalScreen[None]):
    """An overlay on explore, whose results follow each choice."""

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
        facets = await self._explore.session.client.run(lambda engine: engine.facets(ranking))
        if self.is_attached:
            self._show(facets)

    def _show(self, facets: Facets) -> None:
        on = [each for each in read_filters(self._query).filters if len(each.values) == 1]
        rows = tuple(
            FacetRow(
                value.key,
                value.value,
                safe_line(value.label),
                value.count,
                is_on=any(_is_for(each, value.key, value.value) for each in on),
            )
            for value in facets.values
        )
        shown = self.query_one(FacetList)
        strip = DateStrip.of(facets.months, max(shown.line_width - EDGES, 1))
        shown.show(rows, strip, facets.total)
        keymap = self._explore.navigator.keymap
        take, undo, close = map(keymap.key_of, ("facets.take", "facets.undo", "facets.close"))
        box = self.query_one("#facets", Vertical)
        box.border_title = Content(f"{facets.total:,} results of “{safe_line(self._query)}”")
        box.border_subtitle = Content(f"{take} narrow · {undo} undo · {close} close")

    # What the user does.

    @on(FacetList.Taken)
    def narrow(self, event: FacetList.Taken) -> None:
        key, value = event.row.key, event.row.value
        if key is None:
            return
        if event.row.is_on:
            self._explore.filters.replace(_without(self._query, key, value))
        else:
            self._explore.filters.replace(with_filter(self._query, key, value))

    @on(FacetList.SpanTaken)
    def narrow_to_span(self, event: FacetList.SpanTaken) -> None:
        query = _without(_without(self._query, "from"), "to")
        query = with_filter(with_filter(query, "from", event.first), "to", event.last)
        self._explore.filters.replace(query)

    def action_undo(self) -> None:
        self._explore.model.undo()

    def action_close(self) -> None:
        self.dismiss(None)


def _without(query: str, key: Key, value: str = "") -> str:
    """Return a query without its filters of a key, those of one value if there is one."""
    filters = read_filters(query).filters
    for number in reversed(range(len(filters))):
        each = filters[number]
        if each.key == key and (not value or _is_for(each, key, value)):
            query = without_filter(query, number)
    return query


def _is_for(typed: TypedFilter, key: Key, value: str) -> bool:
    """Return whether a filter is for this value and no other, in any spelling."""
    is_single = typed.key == key and len(typed.values) == 1
    return is_single and is_same_value(key, typed.values[0], value)
