"""The facets: values with counts and the strip of dates, in the sidebar of explore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Literal, Self

from rich.cells import cell_len
from textual import events, getters

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.link_records import MOST_DOCUMENTS, LinkedDocument
from kbx_tui.search.query.typed_filters import (
    Key,
    TypedFilter,
    read_filters,
    with_filter,
    without_filter,
)
from kbx_tui.search.request import is_same_value
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import Line, Span, fit, fit_line, looks, shorten, shorten_start
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.lines_view import LineWidget, RowsView, Slot, dim_text, dim_title

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.results.facets import Facets


Kind = Key | Literal["linked", "dates"]
"""What a row is: the key of a filter, a document that others link to, or the strip of dates."""


@dataclass(frozen=True, slots=True)
class FacetRow:
    kind: Kind
    value: str
    """Value of the filter, path of the document, or first and last time of the span."""
    label: str
    count: int
    """Number of results with the value, or of documents that link to the document."""
    is_on: bool = False


def facet_rows(facets: Facets, query: str) -> tuple[FacetRow, ...]:
    """Return the values of the facets; those that a filter of the query names alone are on.

    A value with controls, such as a folder with an escape sequence, is left out: no query line can
    hold it.
    """
    on = [each for each in read_filters(query).filters if len(each.values) == 1]
    return tuple(
        FacetRow(
            value.key,
            value.value,
            safe_line(value.label),
            value.count,
            is_on=any(_is_for(each, value.key, value.value) for each in on),
        )
        for value in facets.values
        if safe_line(value.value) == value.value
    )


def linked_rows(linked: Sequence[LinkedDocument]) -> tuple[FacetRow, ...]:
    return tuple(
        FacetRow("linked", each.path, safe_line(each.title or each.path), each.count)
        for each in linked
    )


def narrowed(query: str, row: FacetRow) -> str:
    """Return a query narrowed to a value, or no longer if it is on; dates replace other dates."""
    if row.kind == "linked":
        return query
    if row.kind == "dates":
        first, last = row.value.split()
        query = _without(_without(query, "from"), "to")
        return with_filter(with_filter(query, "from", first), "to", last)
    if row.is_on:
        return _without(query, row.kind, row.value)
    return with_filter(query, row.kind, row.value)


def _without(query: str, key: Key, value: str = "") -> str:
    filters = read_filters(query).filters
    for number in reversed(range(len(filters))):
        each = filters[number]
        if each.key == key and (not value or _is_for(each, key, value)):
            query = without_filter(query, number)
    return query


def _is_for(typed: TypedFilter, key: Key, value: str) -> bool:
    is_single = typed.key == key and len(typed.values) == 1 and not typed.is_negated
    return is_single and is_same_value(key, typed.values[0], value)


BARS = " ▁▂▃▄▅▆▇█"
MONTHS = 60
"""More months than these are shown as years."""
WIDEST = 6


@dataclass(frozen=True, slots=True)
class DateStrip:
    times: tuple[tuple[str, int], ...] = ()
    """`2026-03` or `2026`, without gaps, and the number of results."""
    start: int | None = None
    end: int = 0
    width: int = MONTHS

    @classmethod
    def of(cls, months: Sequence[tuple[str, int]], width: int = MONTHS) -> Self:
        """Return a strip of months, or of years where these are more than `width` cells.

        `months` are those with a result, in order. If there are more years than fit, the span with
        the most results is shown: a single wrong date may be centuries away.
        """
        width = max(min(width, MONTHS), 1)
        by_month = {12 * int(month[:4]) + int(month[5:7]) - 1: count for month, count in months}
        if not months or max(by_month) - min(by_month) < width:
            filled = _without_gaps(by_month)
            return cls(tuple((f"{n // 12:04}-{n % 12 + 1:02}", c) for n, c in filled), width=width)
        years: Counter[int] = Counter()
        for month, count in by_month.items():
            years[month // 12] += count
        filled = _without_gaps(_fullest(years, width))
        return cls(tuple((f"{year:04}", count) for year, count in filled), width=width)

    @property
    def span(self) -> tuple[str, str] | None:
        if self.start is None or not self.times:
            return None
        return self.times[self.start][0], self.times[self.end][0]

    @property
    def cells(self) -> int:
        """Cells of one time: a short strip is drawn wider, to be read and clicked."""
        return max(1, min(WIDEST, self.width // max(len(self.times), 1)))

    @property
    def bars(self) -> str:
        most = max((count for _, count in self.times), default=1) or 1
        top = len(BARS) - 1
        return "".join(BARS[-(-count * top // most)] * self.cells for _, count in self.times)

    @property
    def words(self) -> str:
        """The span and how many results it has: `2026-01 to 2026-03, 12 results`."""
        if self.span is None or self.start is None:
            return ""
        first, last = self.span
        count = sum(count for _, count in self.times[self.start : self.end + 1])
        name = first if first == last else f"{first} to {last}"
        return f"{name}, {format_count(count, 'result')}"

    def moved(self, steps: int) -> Self:
        if not self.times:
            return self
        last = len(self.times) - 1
        at = last if self.start is None else max(0, min(self.start + steps, last))
        return replace(self, start=at, end=at)

    def extended(self, steps: int) -> Self:
        if self.start is None:
            return self.moved(steps)
        return replace(self, end=max(self.start, min(self.end + steps, len(self.times) - 1)))

    def between(self, one: int, other: int) -> Self:
        last = len(self.times) - 1
        start, end = sorted(max(0, min(at, last)) for at in (one, other))
        return replace(self, start=start, end=end) if self.times else self


def _fullest(counts: Mapping[int, int], width: int) -> dict[int, int]:
    """Return the counts in the span of `width` numbers with the highest sum; on ties, the last."""
    spans = (
        {number: count for number, count in counts.items() if first <= number < first + width}
        for first in sorted(counts, reverse=True)
    )
    return max(spans, key=lambda span: sum(span.values()))


def _without_gaps(counts: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    if counts:
        yield from ((n, counts.get(n, 0)) for n in range(min(counts), max(counts) + 1))


TITLES: dict[Kind, str] = {
    "type": "Types",
    "tag": "Tags",
    "@": "People",
    "in": "Folders",
    "linked": "Most linked",
    "dates": "Dates",
}
LABEL = 32
BAR = 24
WIDE = 60
STRIP = 3
EDGES = 6


class FacetList(RowsView[FacetRow]):
    BINDINGS = bindings("facets", "list")
    COMPONENT_CLASSES = looks("strong", "accent", "cursor", "document")

    strip = DateStrip()
    facets: Facets | None = None
    _dragged_from: int | None = None

    def show(self, rows: tuple[FacetRow, ...], facets: Facets) -> None:
        self.facets = facets
        self.strip = DateStrip.of(facets.months, max(self.line_width - EDGES, 1))
        dates = (FacetRow("dates", "", "", 0),) if self.strip.times else ()
        self.show_rows((*rows, *dates), key=lambda row: (row.kind, row.value))

    def row_heights(self) -> list[int]:
        return [2 if row.kind == "dates" else 1 for row in self.rows]

    def slots(self) -> Sequence[Slot | Line]:
        return self.grouped(lambda row: row.kind, lambda row: dim_title(TITLES[row.kind]))

    def row_line(self, row: int, part: int, width: int) -> Line:
        each = self.rows[row]
        if each.kind == "dates":
            return self._strip_line(part, width, is_here=row == self.cursor)
        widest = max(cell_len(other.label) for other in self.rows)
        label = max(min(widest, LABEL, width - 11), 8)
        cut = shorten_start if each.kind == "in" else shorten  # folders differ at their ends
        total = max(self.facets.total, 1) if self.facets is not None else 1
        bar = round(each.count / total * min(BAR, max(width - label - 16, 0)))
        return (
            Span(f" {self.marker(row)} ", "accent"),
            Span(fit(cut(each.label, label), label), "accent" if each.is_on else "strong"),
            Span(f"{each.count:>7,} "),
            Span("" if each.kind == "linked" else "━" * bar, "document"),
            Span(" narrowed to" if each.is_on and width > WIDE else "", "accent"),
        )

    def _strip_line(self, part: int, width: int, *, is_here: bool) -> Line:
        strip, marker = self.strip, Span(" › " if is_here else "   ", "accent")
        if part:
            first, last = strip.times[0][0], strip.times[-1][0]
            hint = strip.words or f"{first} to {last}; left and right select a span"
            if len(hint) > width - STRIP and not strip.words:
                hint = f"{first} to {last}  ← →"
            return (Span("   "), Span(hint, "accent" if strip.span else "dim"))
        bars = strip.bars
        if strip.start is None:
            return (marker, Span(bars, "document"))
        start, end = strip.start * strip.cells, (strip.end + 1) * strip.cells
        return (
            marker,
            Span(bars[:start], "dim"),
            Span("["),
            Span(bars[start:end], "document"),
            Span("]"),
            Span(bars[end:], "dim"),
        )

    # What the user does.

    def row_opened(self) -> None:
        row = self.current
        if row is not None and row.kind == "dates":
            span = self.strip.span
            row = None if span is None else replace(row, value=" ".join(span))
        if row is not None:
            self.post_message(self.Opened(self, row))

    def action_span(self, steps: int) -> None:
        self._select(self.strip.moved(steps))

    def action_extend(self, steps: int) -> None:
        self._select(self.strip.extended(steps))

    def _select(self, strip: DateStrip) -> None:
        self.strip = strip
        if strip.times:
            self.choose(len(self.rows) - 1)
            self.rebuild_lines()

    def _time_at(self, event: events.MouseEvent) -> int | None:
        (row, part), offset = self.row_at(event), event.get_content_offset(self)
        if offset is None or row < 0 or part or self.rows[row].kind != "dates":
            return None
        return (int(offset.x) - STRIP) // self.strip.cells

    def on_click(self, event: events.Click) -> None:
        """Narrow at one click; documents open at two, as in every list."""
        row, _ = self.row_at(event)
        if row < 0:
            return
        self.choose(row)
        kind = self.rows[row].kind
        if kind != "dates" and event.chain == (2 if kind == "linked" else 1):
            self.action_open()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragged_from = self._time_at(event)
        if self._dragged_from is not None:
            self._select(self.strip.between(self._dragged_from, self._dragged_from))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        start, end = self._dragged_from, self._time_at(event)
        self._dragged_from = None
        if start is not None and end is not None:
            self._select(self.strip.between(start, end))
            self.row_opened()


no_results = dim_text("There is no result to narrow.")
no_facets = dim_text("These notes have no tags, folders, dates or links to narrow by.")


class FacetPane(FacetList):
    """Facets of what explore shows, in place of the entities on request or if there are none."""

    LEAVE_ACTION = "screen.focus_query"
    NEEDS_FOCUS = True
    app = getters.app(TerminalApp)

    def __init__(self, session: BaseSession) -> None:
        super().__init__()
        self._client, self._model = session.client, session.explore
        self._counting = LatestOnly(self._client)

    def update_counts(self) -> None:
        self.screen.set_class(self._model.shows_facets, "-facets")
        closes = f"{self.app.keymap.key_of('screen.back')} closes"
        self.border_subtitle = closes if self._model.wants_facets else ""
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
        if not self.is_attached:
            return
        self.empty_state = no_facets if facets.total else no_results
        rows = facet_rows(facets, self._model.state.query)
        shows_all = self._model.wants_facets  # else only what narrows
        values = [row for row in rows if shows_all or row.is_on or row.count < facets.total]
        self.show((*values, *linked_rows(linked)), facets)
        noun = "document" if self._model.displayed.ranking is None else "result"
        self.border_title = f"Facets of {format_count(facets.total, noun)}"
        self.screen.query_one(FacetStrip).show_rows(self.rows)

    def on_resize(self, event: events.Resize) -> None:
        if self.facets is not None:  # the strip of dates fits the width
            self.show(tuple(row for row in self.rows if row.kind != "dates"), self.facets)


class FacetStrip(LineWidget):
    COMPONENT_CLASSES = looks("strong", "accent")
    app = getters.app(TerminalApp)

    def show_rows(self, rows: Sequence[FacetRow]) -> None:
        """Show the first three values of each kind, without the strip of dates."""
        key = self.app.keymap.key_of("focus.entities")
        groups = groupby((row for row in rows if row.kind != "dates"), key=lambda row: row.kind)
        first = [row for _, group in groups for row in islice(group, 3)]
        self.show_line(partial(facet_strip_line, first, key))


def facet_strip_line(rows: Sequence[FacetRow], key: str, width: int) -> Line:
    """Return ` e narrows  Tags: garden 12, idea 4  Folders: trips 8`, as many as fit."""
    if not rows:
        return (Span(" "),)
    spans: list[Span] = [Span(f" {key}", "accent"), Span(" narrows", "dim")]
    room = width - cell_len(f" {key} narrows")
    before = ""
    for row in rows:
        text = ", " if row.kind == before else f"  {TITLES[row.kind]}: "
        room -= cell_len(text + row.label) + len(f" {row.count:,}")
        if room < 0:
            break
        label = Span(row.label, "accent" if row.is_on else "strong")
        spans += (Span(text, "dim"), label, Span(f" {row.count:,}", "dim"))
        before = row.kind
    return fit_line(tuple(spans), width)
