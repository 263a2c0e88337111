"""The facets in the sidebar of explore, where the base has no entities to show there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.screen import Screen

from kbx_tui.formatting import format_count
from kbx_tui.search.link_records import MOST_DOCUMENTS
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.facet_list import TITLES, FacetList, FacetRow, facet_rows, linked_rows
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.widgets.lines_view import LineWidget, dim_text

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.link_records import LinkedDocument
    from kbx_tui.search.results.facets import Facets


class FacetSidebar:
    """Shows the facets of what the screen shows, in place of the entities."""

    def __init__(
        self,
        screen: Screen[None],
        model: ExploreModel,
        client: EngineClient,
        keymap: Callable[[], Keymap],
    ) -> None:
        self._screen, self._model, self._client = screen, model, client
        self._keymap = keymap
        self._counting = LatestOnly(client)

    @property
    def is_wanted(self) -> bool:
        """Whether the base has documents and no entities."""
        summary = self._model.summary
        return summary is not None and bool(summary.documents) and summary.entities == 0

    def update(self) -> None:
        """Show the facets of the current answer, or the entities where there are any."""
        self._screen.set_class(self.is_wanted, "-facets")
        if self.is_wanted:
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
        pane.border_title = f"Facets of {self._of(facets.total)}"
        strip.show(_top_of_each(pane.rows), self._keymap().key_of("focus.entities"))

    def _of(self, total: int) -> str:
        has_query = self._model.displayed.ranking is not None
        return format_count(total, "result" if has_query else "document")


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
    """The facets in a column."""

    LEAVE_ACTION = "screen.focus_query"

    def __init__(self) -> None:
        super().__init__()
        self.months: Sequence[tuple[str, int]] = ()

    def show(
        self, rows: tuple[FacetRow, ...], months: Sequence[tuple[str, int]], total: int
    ) -> None:
        self.months = months
        self.empty_state = no_facets if total else no_results
        super().show(rows, months, total)

    def on_resize(self, event: events.Resize) -> None:
        values = tuple(row for row in self.rows if row.kind != "dates")
        super().show(values, self.months, self.total)  # the strip of dates fits the width

    def is_cursor_line(self, y: int) -> bool:
        return self.has_focus and super().is_cursor_line(y)


class FacetStrip(LineWidget):
    """The most frequent values of each kind in one line, for terminals too small for a column."""

    COMPONENT_CLASSES = looks("strong", "accent")
    rows: tuple[FacetRow, ...] = ()
    key = ""

    def show(self, rows: tuple[FacetRow, ...], key: str) -> None:
        """Show these values; `key` goes to their list."""
        self.rows, self.key = rows, key
        self.refresh()

    def line(self, width: int) -> Line:
        return facet_strip_line(self.rows, self.key, width)


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
