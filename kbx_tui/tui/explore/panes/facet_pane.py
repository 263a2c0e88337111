"""The facets in the sidebar of explore, where the base has no entities to show there."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events

from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.facets.facet_list import TITLES, FacetList
from kbx_tui.tui.facets.facet_rows import FacetRow
from kbx_tui.tui.widgets.line_widget import LineWidget
from kbx_tui.tui.widgets.lines_view import dim_text

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
