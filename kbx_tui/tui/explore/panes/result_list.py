"""Ranked documents: rank, score, stacked bar, title, date, and the words that matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message
from textual.timer import Timer

from kbx_tui.formatting import score_text, stacked_bar
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.empty_states import Invitation
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, highlighted, looks
from kbx_tui.tui.explore.view import ResultRow, SnippetView
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

TALL = 20
"""From this many lines on, each result has a second line with its snippet."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells each column takes."""

    rank: int
    bar: int
    title: int
    date: int

    @property
    def indent(self) -> int:
        """Where the title starts."""
        return self.rank + 6 + self.bar + 2

    @classmethod
    def of(cls, width: int, rows: int) -> Columns:
        """Share out `width`: the date goes first, then the bar shrinks."""
        rank = max(2, len(str(rows))) + 1
        bar = 20 if width >= 90 else 12 if width >= 54 else 8
        date = 10 if width >= 50 else 0
        taken = rank + 6 + bar + 2 + (date + 1 if date else 0)
        return cls(rank, bar, max(width - taken, 0), date)


class ResultList(RowsView):
    """The results; a row that moved since things last stood still says by how many ranks."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "cursor")
    BINDINGS = bindings("results")
    SETTLE_SECONDS = 3.0
    """How long a moved row says so."""

    @dataclass
    class Highlighted(Message):
        """Another result came under the cursor."""

        result: ResultRow

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ResultList.Highlighted)

    @dataclass
    class Opened(Message):
        """A person wants to read a result."""

        result: ResultRow

    @dataclass
    class InSight(Message):
        """The documents at these paths are visible and have no snippet yet."""

        paths: tuple[str, ...]

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ResultList.InSight)

    class Left(Message):
        """The up arrow was pressed on the first result."""

    def __init__(self) -> None:
        super().__init__()
        self.results: tuple[ResultRow, ...] = ()
        self._snippets: dict[str, SnippetView] = {}
        self._settled: dict[str, int] = {}
        self._moves: dict[str, int] = {}
        self._timer: Timer | None = None
        self._more = 0

    @property
    def current(self) -> ResultRow | None:
        """The result under the cursor."""
        return self.results[self.cursor] if self.results else None

    def show(self, results: tuple[ResultRow, ...], *, fresh: bool, more: int = 0) -> None:
        """Show other results; with `fresh` of another query, else of the same one re-ranked.

        `more` tells how many there are that are not among them.
        """
        at = self.current
        self.results, self._more = results, more
        ranks = ranks_of(results)
        if fresh:
            self._snippets, self._settled, self._moves = {}, ranks, {}
        else:
            self._moves = rank_moves(self._settled, ranks)
            self._settle_later()
        self.chosen = self.chosen and not fresh
        rows = {result.path: row for row, result in enumerate(results)}
        wanted = rows.get(at.path, self.cursor) if self.chosen and at is not None else 0
        # Before the lines: fewer of them scroll, and whoever hears that asks for the row at hand.
        self.set_reactive(RowsView.cursor, self.validate_cursor(wanted))
        self.lines_changed()
        self.show_cursor()
        self.highlighted()

    def invite(self, invitation: Invitation) -> None:
        """Show no results but this."""
        self.invitation = invitation
        self.results, self._settled, self._moves = (), {}, {}
        self.lines_changed()

    def forget_snippets(self, paths: Iterable[str]) -> None:
        """These documents changed: ask for what fits in them again."""
        for path in paths:
            self._snippets.pop(path, None)
        self._tell_what_is_in_sight()

    def add_snippets(self, snippets: Mapping[str, SnippetView]) -> None:
        """Show snippets, by path."""
        self._snippets.update(snippets)
        self.refresh()

    @property
    def two_lines(self) -> bool:
        """Whether there is room for snippets."""
        return self.line_room >= TALL

    def count_rows(self) -> int:
        return len(self.results)

    def slots(self) -> list[Slot]:
        parts = range(2 if self.two_lines else 1)
        slots = [(row, part) for row in range(len(self.results)) for part in parts]
        return [*slots, (-1, 0)] if slots and self._more else slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return (Span(f"   and {self._more:,} more: add a word to narrow it", "dim"),)
        result, columns = self.results[row], Columns.of(width, len(self.results))
        if part == 0:
            move = self._moves.get(result.path, 0)
            return result_line(result, columns, move, cursor=row == self.cursor)
        snippet = self._snippets.get(result.path)
        if snippet is None:
            return ()
        indent = Span(" " * (columns.rank + 6))
        return fit_line((indent, *highlighted(snippet.text, snippet.matches)), width - 1)

    def highlighted(self) -> None:
        if (result := self.current) is not None:
            self.post_message(self.Highlighted(result))
            self._tell_what_is_in_sight()

    def opened(self) -> None:
        if (result := self.current) is not None:
            self.post_message(self.Opened(result))

    def left(self) -> None:
        self.post_message(self.Left())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._tell_what_is_in_sight()

    def lines_changed(self) -> None:
        super().lines_changed()
        self._tell_what_is_in_sight()

    def _tell_what_is_in_sight(self) -> None:
        rows = self.visible_rows() if self.two_lines else []
        paths = {self.results[row].path for row in rows}
        if (at := self.current) is not None:
            paths.add(at.path)
        if missing := tuple(sorted(paths - self._snippets.keys())):
            self.post_message(self.InSight(missing))

    def _settle_later(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        self._settled, self._moves = ranks_of(self.results), {}
        self.refresh()


def ranks_of(results: Iterable[ResultRow]) -> dict[str, int]:
    """Return the rank of each document, by path."""
    return {result.path: result.rank for result in results}


def rank_moves(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return by how many ranks each document rose (positive) or fell, without those that stayed."""
    return {
        path: before[path] - rank for path, rank in now.items() if before.get(path, rank) != rank
    }


def result_line(result: ResultRow, columns: Columns, move: int, *, cursor: bool) -> Line:
    """Return the first line of a result, exactly as wide as its columns."""
    parts = (1.0, 0.0) if result.exact else (result.document_part, result.entity_part)
    document, entity = stacked_bar(*parts, columns.bar)
    moved = f" ▲{move}" if move > 0 else f" ▼{-move}" if move < 0 else ""
    exact = f" = {result.exact}" if result.exact else ""
    room = max(columns.title - cell_len(moved) - cell_len(exact), 0)
    line = (
        Span(("›" if cursor else " ") + f"{result.rank:>{columns.rank - 1}} ", "dim"),
        Span(f"{score_text(result.score):>4} ", "text"),
        Span(document, "document"),
        Span(entity, "entity"),
        Span(" " * (columns.bar - len(document) - len(entity) + 2)),
        Span(fit(result.title, room), "strong"),
        Span(exact, "dim"),
        Span(moved, "accent"),
        Span(" " + fit(result.date, columns.date) if columns.date else "", "dim"),
    )
    return tuple(span for span in line if span.text)
