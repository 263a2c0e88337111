"""The ranked documents: score, stacked bar, title and date, and the passage that answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from textual import events, getters
from textual.reactive import reactive
from textual.timer import Timer

from kbx_tui.formatting import format_score, stacked_bar
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.results.response import SENTENCE_END, Snippet, exact_words
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit,
    fit_line,
    highlight,
    looks,
    move_text,
    rank_moves,
    shared_lengths,
    shorten,
    slice_line,
    title_spans,
    wrap_ranges,
)
from kbx_tui.tui.explore.displayed_search import DisplayedSearch
from kbx_tui.tui.explore.view import WEAK, ExploreView, FileState, ResultRow
from kbx_tui.tui.judging.model import DEPTH, grade_sign
from kbx_tui.tui.terminal_app import Newest, TerminalApp
from kbx_tui.tui.widgets.lines_view import EmptyState, RowsView, Slot

BAR_LOOKS: tuple[Look, ...] = ("document", "entity", "reranker")
TALL = 20
"""Height of the list from which a blank line separates results."""
PASSAGE_LINES = 3
HEADING_CELLS, HEADING_FROM = 30, 59
INDENT, GRADED = 7, 3
WITH_DATE, FULL_BAR, LEAST_TITLE = 50, 54, 12
LIKELY = 0.5
"""Share of the best score from which a title is bold, and a line of the passage always shown."""
NEVER_FOLDED = 5
LEAST_FOLDED = 3


class ResultList(RowsView[ResultRow]):
    COMPONENT_CLASSES = looks(
        "strong", "accent", "grade", "document", "entity", "reranker", "rule", "cursor"
    )
    BINDINGS = bindings("results")
    app = getters.app(TerminalApp)
    LEAVE_ACTION = "screen.focus_query"
    SETTLE_SECONDS = 3.0
    marked: reactive[str] = reactive("")
    """Path of the marked result, with which others are compared; empty if none is marked."""

    @dataclass
    class SnippetsMissing(Newest):
        paths: tuple[str, ...]

    def __init__(self) -> None:
        super().__init__()
        self._snippets: Mapping[str, Snippet] = {}
        self._outdated: Mapping[str, FileState] = {}
        self.settled: tuple[ResultRow, ...] = ()
        """The results that moves count from."""
        self._shape: list[Look] = []
        """The looks of the rows of the first answer, which decide the lines of each for good: a
        list that changed its lines with each step of a slider could not be followed."""
        self._moves: dict[str, int] = {}
        self._generation: int | None = None
        self._timer: Timer | None = None
        self._more = 0
        self._grades: Mapping[str, int | None] = {}
        self._best = 1.0
        self._shared: list[int] = []
        """Number of leading characters that each title shares with a neighbour's."""
        self._sought = ""
        self._is_by_score, self._is_unfolded = True, False
        self._is_roomy = False
        """Whether the passages of all results that are not folded have room."""

    def show(self, view: ExploreView, displayed: DisplayedSearch, *, fresh: bool) -> None:
        """Show results: those of a new query if `fresh`, else the same query ranked again."""
        current, results, was_by_score = self.current, view.results, self._is_by_score
        self._is_by_score = not view.order
        self._more = view.matched - len(results) if self._is_by_score else 0
        self._snippets, self._outdated = displayed.snippets, displayed.outdated
        self._best = max((result.score for result in results), default=1.0)
        self._shared = shared_lengths([result.title for result in results])
        generation = None if displayed.evidence is None else displayed.evidence.generation
        is_same = not fresh and generation == self._generation
        if not (is_same and self._is_by_score and was_by_score):
            self._shape = [self._look(result) for result in results]
        if fresh:
            self.settled, self._moves = results, {}
            self.marked, self._is_unfolded = "", False
        elif not is_same:
            self.settled = results  # the base has changed: no key has moved these rows
        else:
            self._moves = rank_moves(ranks_of(self.settled), ranks_of(results))
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(self.SETTLE_SECONDS, self.settle)
        self._generation = generation
        self.chosen = self.chosen and not fresh
        rows = {result.path: row for row, result in enumerate(results)}
        row = rows.get(current.path, self.cursor) if self.chosen and current is not None else 0
        if self._sought in rows:
            row, self.chosen = rows[self._sought], True
        self._sought = ""
        self.show_at(results, row)
        self._count_judged()

    def show_count(self, count: str) -> None:
        self.border_title = " · ".join(filter(None, ("Results", count)))

    def seek(self, path: str) -> None:
        self._sought = path

    def go_to(self, path: str) -> None:
        for row, result in enumerate(self.rows):
            if result.path == path:
                self.choose(row)

    def show_empty(self, empty_state: EmptyState) -> None:
        self.empty_state = empty_state
        self.rows, self.settled, self._moves = (), (), {}
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
        self.border_subtitle = f"{judged} of the first {len(first)} judged" if judged else ""

    def row_heights(self) -> list[int]:
        most = self._count_strong() * (2 + self._gap) + PASSAGE_LINES
        self._is_roomy = most <= self.visible_height
        shown = self._count_shown()
        heights = [1 + self._passage_height(row) for row in range(shown)]
        spaced = [height + self._gap * self._has_passage(row) for row, height in enumerate(heights)]
        return [*spaced, *([0] * (len(self.rows) - shown))]

    def _count_shown(self) -> int:
        """Return how many results are shown; one line stands for weaker ones without room."""
        count, strong = len(self.rows), self._count_strong()
        passages = sum(map(self._has_passage, range(strong)))
        room = self.visible_height - strong - passages * (1 + self._gap) - PASSAGE_LINES
        # some rows stay free, for calm
        shown = count if count - strong <= room else strong + max(2 * room // 3, 0)
        is_unfolded = not self._is_by_score or self._is_unfolded or self.cursor >= shown
        return count if is_unfolded or count - shown < LEAST_FOLDED else shown

    def _count_strong(self) -> int:
        rows = range(len(self.rows))
        strong = (row for row in rows if row < NEVER_FOLDED or self._shape_of(row) != "dim")
        return max(strong, default=-1) + 1

    @property
    def _gap(self) -> int:
        return int(self.visible_height >= TALL)

    def _passage_height(self, row: int) -> int:
        if row != self.cursor:
            return int(self._has_passage(row))
        snippet = self._snippets.get(self.rows[row].path)
        return 2 if snippet is None else len(self._passage(row, snippet))

    @property
    def _indent(self) -> int:
        """Cells before a passage: it is below the title, or in a narrow list below the bar."""
        width = self.line_width
        graded = GRADED if self._grades else 1
        return INDENT + (bar_cells(width) + 1 + graded if width >= WITH_DATE else 0)

    def _has_passage(self, row: int) -> bool:
        """Return whether a row without the cursor shows a line of its passage."""
        shape = self._shape_of(row)
        return shape == "strong" or (self._is_roomy and shape == "text")

    def _shape_of(self, row: int) -> Look:
        return self._shape[row] if row < len(self._shape) else "dim"

    def _look(self, result: ResultRow) -> Look:
        if result.known_item or result.score >= LIKELY * self._best:
            return "strong"
        return "dim" if result.score < WEAK * self._best else "text"

    def _passage(self, row: int, snippet: Snippet) -> tuple[Line, ...]:
        """Return the passage of a row; the one under the cursor has more lines, and its heading."""
        width = self.line_width - self._indent - 1
        heading = shorten(snippet.heading, HEADING_CELLS)
        if row != self.cursor:
            return passage_lines(snippet, width, 1)
        is_title = fold(snippet.heading) == fold(self.rows[row].title)
        has_room = width >= HEADING_FROM and not is_title
        return passage_lines(snippet, width, PASSAGE_LINES, heading if has_room else "")

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.rebuild_lines()

    def slots(self) -> Sequence[Slot | Line]:
        slots, folded = self.row_slots(), len(self.rows) - self._count_shown()
        more: Line = ()
        if folded:
            more = (Span(f"   {folded} weaker", "dim"),)
            if self.has_focus:  # elsewhere, the key does something else
                key = Span(self.app.keymap.key_of("list.last"), "accent")
                more += (Span(" · ", "dim"), key, Span(" shows them", "dim"))
        elif self._more:
            more = (Span(f"   and {self._more:,} more: add a word to narrow it", "dim"),)
        return [*slots, more] if slots and more else slots

    def choose(self, row: int) -> None:
        self._is_unfolded |= row >= self._count_shown()
        super().choose(row)

    def is_cursor_line(self, y: int) -> bool:
        row, part = self.slot_at(y)
        return row == self.cursor and part <= self._passage_height(row)

    def row_line(self, row: int, part: int, width: int) -> Line:
        result = self.rows[row]
        if part == 0:
            move = self._moves.get(result.path, 0)
            sign = "◆" if result.path == self.marked else "›" if row == self.cursor else " "
            grade = grade_sign(self._grades, result.path) if self._grades else ""
            return result_line(
                result,
                width,
                move,
                sign,
                grade,
                shared=self._shared[row],
                badge=self.badge_of(result),
                look=self._look(result),
            )
        snippet = self._snippets.get(result.path)
        if snippet is None or part > self._passage_height(row):
            return BLANK
        line = self._passage(row, snippet)[part - 1]
        if row != self.cursor:  # only one passage has its words in bold
            line = tuple(Span(text, "text" if look == "strong" else look) for text, look in line)
        return (Span(" " * self._indent), *line)

    def cursor_moved(self) -> None:
        self.show_snippets()  # the row under the cursor shows more of its passage
        super().cursor_moved()

    def show_snippets(self) -> None:
        """Show the snippets there are; the row under the cursor may need more lines."""
        self.rebuild_lines()
        self.show_cursor()

    def on_click(self, event: events.Click) -> None:
        offset, last = event.get_content_offset(self), len(self._slots) - 1
        if offset is not None and offset.y + self.scroll_offset.y == last > self.slot_at(last)[0]:
            self._is_unfolded = True  # the line that stands for the weaker ones
            self.rebuild_lines()
        if event.chain == 2:  # the first click has moved the rows under the pointer
            event.prevent_default()
            self.action_open()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.request_snippets()

    def rebuild_lines(self) -> None:
        super().rebuild_lines()
        self.request_snippets()

    def rows_with_passage(self) -> list[int]:
        return [row for row in self.visible_rows() if row == self.cursor or self._has_passage(row)]

    def request_snippets(self) -> None:
        paths = {self.rows[row].path for row in self.rows_with_passage()}
        neighbours = self.rows[max(self.cursor - 1, 0) : self.cursor + 2]
        paths.update(result.path for result in neighbours)
        if missing := tuple(sorted(paths - self._snippets.keys())):
            self.post_message(self.SnippetsMissing(missing))

    def settle(self) -> None:
        self.compare_from_here()
        self._moves = {}
        self.refresh()

    def compare_from_here(self) -> None:
        """Let the next moves count from the list as it is now; those shown stay until then."""
        self.settled = self.rows


def ranks_of(results: Iterable[ResultRow]) -> dict[str, int]:
    return {result.path: result.rank for result in results}


FEW_WORDS = 12
"""Characters before the first word asked for, in a passage cut inside a sentence."""


@lru_cache(maxsize=256)  # a list draws and measures those it shows several times for a key
def passage_lines(snippet: Snippet, width: int, most: int, heading: str = "") -> tuple[Line, ...]:
    """Return a passage in at most `most` lines of `width` cells, after its heading, if any.

    What does not fit is left out after a sentence, or else around the words asked for.
    """
    lead = f"{heading} › " if heading else ""
    line, text, moved = (Span(lead, "text"), *snippet_line(snippet)), lead + snippet.text, len(lead)
    matches = [(start + moved, end + moved) for start, end in snippet.matches]
    breaks = [at + moved for at in snippet.line_breaks]
    start, is_inside = _passage_start(text, matches, width * most)
    ranges = [(a + start, b + start) for a, b in wrap_ranges(text[start:], max(width - 1, 2))]
    shown, is_cut = ranges[:most], snippet.is_cut
    if len(ranges) > most or is_cut:
        first, last = shown[-1]
        least = max((end for _, end in matches if end <= last), default=0)
        if most == 1:  # a line that ends early says too little
            least = max(least, (first + last) // 2)
        ends = [end.end() for end in SENTENCE_END.finditer(text, first)]
        ends += [at for at in breaks if first < at]
        ends = [end for end in ends if least <= end <= last]
        is_cut = not ends
        shown[-1] = (first, max(ends, default=last))
    lines = [slice_line(line, first, last) for first, last in shown]
    if is_inside:
        lines[0] = (Span("…", "dim"), *lines[0])
    if is_cut:
        lines[-1] = (*fit_line(lines[-1], width - 1), Span("…", "dim"))
    return tuple(lines)


def _passage_start(text: str, matches: Sequence[tuple[int, int]], room: int) -> tuple[int, bool]:
    """Return where a passage begins so that `room` cells hold its words asked for.

    That may be inside a sentence, as the second value says.
    """
    if not matches or cell_len(text[: matches[-1][1]]) <= room:
        return 0, False
    first = matches[0][0]
    ends = (end.end() for end in SENTENCE_END.finditer(text))
    sentence = max((end + (text[end] == " ") for end in ends if end <= first), default=0)
    if cell_len(text[sentence:first]) <= room // 2:
        return sentence, False
    return text.rfind(" ", 0, max(first - FEW_WORDS, 0)) + 1 or first, True


def snippet_line(snippet: Snippet) -> Line:
    line, position = highlight(snippet.text, snippet.matches), 0
    shown: Line = ()
    for start, end in snippet.redacted:
        greyed = Span(snippet.text[start:end], "rule")
        shown, position = (*shown, *slice_line(line, position, start), greyed), end
    return (*shown, *slice_line(line, position))


def result_line(
    result: ResultRow,
    width: int,
    move: int,
    sign: str,
    grade: str = "",
    *,
    shared: int = 0,
    badge: str = "",
    look: Look = "strong",
) -> Line:
    """Return the first line of a result in `width` cells.

    One without room has no date. A neighbour's title begins with the same `shared` characters.
    """
    bar = bar_cells(width)
    graded = GRADED if grade else 1
    moved = move_text(move)
    has_room = width >= FULL_BAR  # else the date is worth more
    exact = f" · {exact_words(result.known_item)}" if result.known_item and has_room else ""
    off = f" ! {badge}" if badge else ""
    signs = cell_len(moved) + cell_len(exact) + cell_len(off)
    room = width - INDENT - bar - 1 - graded - signs
    date = 0 if width < WITH_DATE or room < LEAST_TITLE + 13 else 10
    room = max(room - (date + 3 if date else 0), 0)
    line = (
        Span(f"{sign} ", "accent" if sign == "◆" else "dim"),
        *score_spans(result, bar, is_dim=look != "strong", is_current=sign == "›"),
        Span(grade, "grade" if grade.strip() else "text"),
        Span(" " * (graded - len(grade))),
        *title_spans(result.title, shared, room, look),
        Span(exact, "dim"),
        Span(off, "accent"),
        Span(moved, "accent"),
        Span(f"  {fit(result.date[:date], date)} " if date else "", "dim"),
    )
    return tuple(span for span in line if span.text)


def bar_cells(width: int) -> int:
    return 8 if width >= FULL_BAR else 6


def score_spans(
    result: ResultRow, bar: int, *, is_dim: bool = False, is_current: bool = True
) -> Line:
    """Return a score and its parts as a bar that fills `bar` cells at score 1."""
    parts = (result.document_part, result.entity_part, result.reranker_part)
    document, entity, reranker = (1.0, 0.0, 0.0) if result.known_item else parts
    bars = stacked_bar(document, entity, bar, reranker=reranker)
    line = (
        Span(f"{format_score(result.score):>4} ", "text" if is_current else "dim"),
        *map(Span, bars, BAR_LOOKS),
        Span(" " * (bar - sum(map(len, bars)) + 1)),
    )
    return tuple(Span(span.text, "dim") for span in line) if is_dim else line
