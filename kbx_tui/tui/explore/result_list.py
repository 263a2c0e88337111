"""The ranked documents: rank, score, stacked bar, title, date and snippet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.timer import Timer

from kbx_tui.formatting import format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import (
    Line,
    Look,
    Span,
    fit_line,
    highlight,
    looks,
    move_text,
    rank_moves,
    score_bar,
    shared_lengths,
    slice_line,
    title_spans,
)
from kbx_tui.tui.explore.displayed_search import DisplayedSearch
from kbx_tui.tui.explore.view import ExploreView, FileState, ResultRow
from kbx_tui.tui.judging.model import DEPTH, NO_GRADE, grade_sign
from kbx_tui.tui.shell.messages import Newest
from kbx_tui.tui.widgets.lines_view import EmptyState
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

if TYPE_CHECKING:
    from kbx_tui.search.results.response import Snippet


BAR_LOOKS: tuple[Look, ...] = ("document", "entity", "reranker")
TITLE_MARGIN = 4
TALL = 20
"""Height of the list from which each result has a second line, with its snippet."""


@dataclass(frozen=True, slots=True)
class Columns:
    rank: int
    bar: int
    title: int
    date: int

    @classmethod
    def of(cls, width: int, rows: int) -> Columns:
        """Divide `width` cells; if space is short, the bar shrinks and the date is omitted."""
        rank = max(2, len(str(rows))) + 1
        bar = 8 if width >= 54 else 6
        date = 10 if width >= 50 else 0
        taken = rank + 6 + bar + 3 + (date + 1 if date else 0)
        return cls(rank, bar, max(width - taken, 0), date)


class ResultList(RowsView[ResultRow]):
    COMPONENT_CLASSES = looks(
        "strong", "accent", "grade", "document", "entity", "reranker", "rule", "cursor"
    )
    BINDINGS = bindings("results")
    LEAVE_ACTION = "screen.focus_query"
    SETTLE_SECONDS = 3.0

    @dataclass
    class Highlighted(Newest):
        result: ResultRow

    @dataclass
    class SnippetsMissing(Newest):
        paths: tuple[str, ...]

    def __init__(self) -> None:
        super().__init__()
        self._snippets: Mapping[str, Snippet] = {}
        self._outdated: Mapping[str, FileState] = {}
        self._settled_ranks: dict[str, int] = {}
        self._moves: dict[str, int] = {}
        self._timer: Timer | None = None
        self._more = 0
        self._grades: Mapping[str, int | None] = {}
        self._best = 1.0
        self._shared: list[int] = []
        """Number of leading characters that each title shares with a neighbour's."""
        self._sought = ""
        self._count = self._judged = ""
        self._covered = 0
        self.marked = ""
        """Path of the marked result, with which others are compared; empty if none is marked."""

    def show(self, view: ExploreView, displayed: DisplayedSearch, *, fresh: bool) -> None:
        """Show results: those of a new query if `fresh`, else the same query ranked again."""
        current, results = self.current, view.results
        self._more = 0 if view.order else view.matched - len(results)
        self._snippets, self._outdated = displayed.snippets, displayed.outdated
        self._best = max((result.score for result in results), default=1.0)
        self._shared = shared_lengths([result.title for result in results])
        ranks = ranks_of(results)
        if fresh:
            self._settled_ranks, self._moves = ranks, {}
            self.marked = ""
        else:
            self._moves = rank_moves(self._settled_ranks, ranks)
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(self.SETTLE_SECONDS, self._settle)
        self.chosen = self.chosen and not fresh
        rows = {result.path: row for row, result in enumerate(results)}
        row = rows.get(current.path, self.cursor) if self.chosen and current is not None else 0
        if self._sought in rows:
            row, self.chosen = rows[self._sought], True
        self._sought = ""
        self.show_at(results, row)
        self._count_judged()

    def show_count(self, count: str) -> None:
        self._count = count
        self._update_titles()

    def leave_room(self, cells: int) -> None:
        self._covered = cells
        self._update_titles()

    def on_resize(self, event: events.Resize) -> None:
        self._update_titles()

    def _update_titles(self) -> None:
        has_bottom = self.styles.border_bottom[0] not in ("", "none")
        titles = ("Results", self._count), ("Results", self._count, self._judged)
        counted, judged = (" · ".join(filter(None, parts)) for parts in titles)
        room = self.size.width - self._covered - TITLE_MARGIN
        fits = not has_bottom and cell_len(judged) <= room  # cut, it would read as another number
        self.border_title = judged if fits else counted
        self.border_subtitle = self._judged if has_bottom else ""

    def mark(self, path: str) -> None:
        self.marked = path
        self.refresh()

    def seek(self, path: str) -> None:
        self._sought = path

    def go_to(self, path: str) -> None:
        for row, result in enumerate(self.rows):
            if result.path == path:
                self.choose(row)

    def show_empty(self, empty_state: EmptyState) -> None:
        self.empty_state = empty_state
        self.rows, self._settled_ranks, self._moves = (), {}, {}
        self.rebuild_lines()

    def badge_of(self, result: ResultRow) -> str:
        return self._outdated.get(result.path) or ("" if result.has_vector else "no vector")

    def show_grades(self, grades: Mapping[str, int | None]) -> None:
        """Show the grades of documents, by path; None means not sure."""
        self._grades = grades
        self._count_judged()
        self.refresh()

    def _count_judged(self) -> None:
        first = [result.path for result in self.rows if result.rank <= DEPTH]
        judged = sum(path in self._grades for path in first)
        self._judged = f"{judged} of the first {len(first)} judged" if judged else ""
        self._update_titles()

    @property
    def has_snippet_lines(self) -> bool:
        return self.visible_height >= TALL

    def row_heights(self) -> list[int]:
        return [2 if self.has_snippet_lines else 1] * len(self.rows)

    def slots(self) -> Sequence[Slot | Line]:
        slots = self.row_slots()
        more: Line = (Span(f"   and {self._more:,} more: add a word to narrow it", "dim"),)
        return [*slots, more] if slots and self._more else slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        result, columns = self.rows[row], Columns.of(width, len(self.rows))
        if part == 0:
            move = self._moves.get(result.path, 0)
            sign = "◆" if result.path == self.marked else "›" if row == self.cursor else " "
            grade = grade_sign(self._grades, result.path) if self._grades else NO_GRADE
            return result_line(
                result,
                columns,
                move,
                sign,
                grade,
                shared=self._shared[row],
                best=self._best,
                badge=self.badge_of(result),
            )
        if (snippet := self._snippets.get(result.path)) is None:
            return ()
        return fit_line((Span(" " * (columns.rank + 6)), *snippet_line(snippet)), width - 1)

    def cursor_moved(self) -> None:
        if (result := self.current) is not None:
            self.post_message(self.Highlighted(result))
            self.request_snippets()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.request_snippets()

    def rebuild_lines(self) -> None:
        super().rebuild_lines()
        self.request_snippets()

    def request_snippets(self) -> None:
        rows = self.visible_rows() if self.has_snippet_lines else []
        paths = {self.rows[row].path for row in rows}
        if self.current is not None:
            paths.add(self.current.path)
        if missing := tuple(sorted(paths - self._snippets.keys())):
            self.post_message(self.SnippetsMissing(missing))

    def _settle(self) -> None:
        self._settled_ranks, self._moves = ranks_of(self.rows), {}
        self.refresh()


def ranks_of(results: Iterable[ResultRow]) -> dict[str, int]:
    return {result.path: result.rank for result in results}


def snippet_line(snippet: Snippet) -> Line:
    line, position = highlight(snippet.text, snippet.matches), 0
    shown: Line = ()
    for start, end in snippet.redacted:
        greyed = Span(snippet.text[start:end], "rule")
        shown, position = (*shown, *slice_line(line, position, start), greyed), end
    return (*shown, *slice_line(line, position))


def result_line(
    result: ResultRow,
    columns: Columns,
    move: int,
    sign: str,
    grade: str = " ",
    *,
    shared: int = 0,
    best: float = 1.0,
    badge: str = "",
) -> Line:
    """Return the first line of a result, exactly as wide as its columns.

    A neighbour's title begins with the same `shared` characters; a score of `best` fills the bar.
    """
    parts = (result.document_part, result.entity_part, result.reranker_part)
    bars = score_bar(*((1.0, 0.0, 0.0) if result.known_item else parts), columns.bar, full=best)
    moved = move_text(move)
    exact = f" = {result.known_item}" if result.known_item else ""
    off = f" ! {badge}" if badge else ""
    room = max(columns.title - cell_len(moved) - cell_len(exact) - cell_len(off), 0)
    line = (
        Span(sign, "accent" if sign == "◆" else "dim"),
        Span(f"{result.rank:>{columns.rank - 1}} ", "dim"),
        Span(f"{format_score(result.score):>4} ", "text"),
        *map(Span, bars, BAR_LOOKS),
        Span(" " * (columns.bar - sum(map(len, bars)) + 1)),
        Span(grade, "grade" if grade.strip() else "text"),
        Span(" "),
        *title_spans(result.title, shared, room),
        Span(exact, "dim"),
        Span(off, "accent"),
        Span(moved, "accent"),
        Span(" " + fit(result.date, columns.date) if columns.date else "", "dim"),
    )
    return tuple(span for span in line if span.text)
