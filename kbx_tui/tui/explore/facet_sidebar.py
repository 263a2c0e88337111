"""The facets in the sidebar of explore, where the base has no entities to show there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events

from kbx_tui.formatting import format_count
from kbx_tui.search.link_records import MOST_DOCUMENTS
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.facet_list import TITLES, FacetList, FacetRow, facet_rows, linked_rows
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.widgets.lines_view import LineWidget, dim_text

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.link_records import LinkedDocument
    from kbx_tui.search.results.facets import Facets


class FacetSidebar:
    def __init__(self, screen: ModeScreen) -> None:
        self._screen, self._model = screen, screen.session.explore
        self._client = screen.session.client
        self._counting = LatestOnly(self._client)

    def update(self) -> None:
        self._screen.set_class(self._model.shows_facets, "-facets")
        if self._model.shows_facets:
            self._counting.start(self._count())
        else:
            self._counting.cancel()

    async def _count(self) -> None:
        ranking, summary = self._model.displayed.ranking, self._model.summary
        documents = self._model.state.path if ranking is None else ranking
        is_small = summary is not None and (summary.documents or 0) <= MOST_DOCUMENTS

        def read(engine: KnowledgeBase) -> tuple[Facets, tuple[LinkedDocument, ...]]:
            linked = engine.links.most_linked(documents) if is_small else ()
            return engine.documents.facets(documents), linked

        facets, linked = await self._client.run(read)
        if self._screen.is_attached:
            self._show(facets, linked)

    def _show(self, facets: Facets, linked: tuple[LinkedDocument, ...]) -> None:
        values = tuple(
            row
            for row in facet_rows(facets, self._model.state.query)
            if row.is_on or row.count < facets.total
        )
        pane, strip = self._screen.query_one(FacetPane), self._screen.query_one(FacetStrip)
        pane.show((*values, *linked_rows(linked)), facets.months, facets.total)
        noun = "document" if self._model.displayed.ranking is None else "result"
        pane.border_title = f"Facets of {format_count(facets.total, noun)}"
        key = self._screen.app.keymap.key_of("focus.entities")
        strip.show_line(partial(facet_strip_line, _top_of_each(pane.rows), key))


def _top_of_each(rows: tuple[FacetRow, ...]) -> tuple[FacetRow, ...]:
    """Return the first three values of each kind, without the strip of dates."""
    kept: list[FacetRow] = []
    for row in rows:
        if row.kind != "dates" and sum(other.kind == row.kind for other in kept) < 3:
            kept.append(row)
    return tuple(kept)


no_results = dim_text("There is no result to narrow.")
no_facets = dim_text("These notes have no tags, folders, dates or links to narrow by.")


class FacetPane(FacetList):
    LEAVE_ACTION = "screen.focus_query"

    def show(
        self, rows: tuple[FacetRow, ...], months: Sequence[tuple[str, int]], total: int
    ) -> None:
        self.empty_state = no_facets if total else no_results
        super().show(rows, months, total)

    def on_resize(self, event: events.Resize) -> None:
        values = tuple(row for row in self.rows if row.kind != "dates")
        super().show(values, self.months, self.total)  # the strip of dates fits the width

    def is_cursor_line(self, y: int) -> bool:
        return self.has_focus and super().is_cursor_line(y)


class FacetStrip(LineWidget):
    COMPONENT_CLASSES = looks("strong", "accent")


def facet_strip_line(rows: Sequence[FacetRow], key: str, width: int) -> Line:
    """Return ` e narrows  Tags: garden 12, idea 4  Folders: trips 8`, as many as fit."""
    if not rows:
        return (Span(" "),)
    spans: list[Span] = [Span(f" {key}", "accent"), Span(" narrows", "dim")]
    room = width - cell_len(f" {key} narrows")
    before = ""
    for row in rows:
        title = "" if row.kind == before else f"  {TITLES[row.kind]}: "
        text = title or ", "
        room -= cell_len(text + row.label) + len(f" {row.count:,}")
        if room < 0:
            break
        look: tuple[Span, ...] = (
            Span(text, "dim"),
            Span(row.label, "accent" if row.is_on else "strong"),
            Span(f" {row.count:,}", "dim"),
        )
        spans += look
        before = row.kind
    return fit_line(tuple(spans), width)
