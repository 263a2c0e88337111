"""Several bases searched together; entering a row opens its base with the same query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.geometry import Size

from kbx_tui.formatting import format_count, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import (
    Line,
    Span,
    fit_line,
    highlight,
    looks,
    shared_lengths,
    title_spans,
)
from kbx_tui.tui.shell.frame_screen import FrameScreen
from kbx_tui.tui.shell.messages import OpenBase
from kbx_tui.tui.together.model import (
    NAME_WIDTH,
    AnswersMerged,
    BaseRow,
    BasesChanged,
    QueryRefused,
    TogetherModel,
    count_words,
    note_words,
)
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import EmptyState, titled_text
from kbx_tui.tui.widgets.rows_view import RowsView
from kbx_tui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from kbx_tui.api.several_bases import OwnedResult

DATE_WIDTH = 10
DATED = 64
"""The width from which a result shows its date."""
TALL = 16
"""The height from which each result has a second line with its snippet."""


def name_column(names: list[str], width: int) -> int:
    """Return the width of the column of base names, in a list of this width."""
    return min(max(map(cell_len, names), default=0), NAME_WIDTH, max(width // 4, 6))


class OwnedList(RowsView["OwnedResult"]):
    """The results of all bases, each with the name of its base."""

    COMPONENT_CLASSES = looks("strong", "entity", "cursor")
    BINDINGS = bindings("together_results")
    LEAVE_ACTION = "screen.focus_query"

    _titles: Sequence[str] = ()
    """Without control characters."""
    _shared: Sequence[int] = ()
    _name_width = 0

    def show(self, results: Sequence[OwnedResult], *, is_new: bool) -> None:
        """Show results; if they are not of a new query, the cursor stays on its document."""
        self.chosen = is_kept = self.chosen and not is_new and self.current is not None
        self._titles = [safe_line(own.result.title) for own in results]
        self._shared = shared_lengths(self._titles)
        self.show_rows(results, key=lambda own: (own.base, own.result.path) if is_kept else None)

    def row_heights(self) -> list[int]:
        return [2 if self.visible_height >= TALL else 1] * len(self.rows)

    def rebuild_lines(self) -> None:
        self._name_width = name_column([row.base for row in self.rows], self.line_width)
        super().rebuild_lines()

    def row_line(self, row: int, part: int, width: int) -> Line:
        own, result = self.rows[row], self.rows[row].result
        if part:
            indent = Span(" " * (11 + self._name_width))
            return fit_line((indent, *highlight(result.snippet, result.matches)), width - 1)
        date = f" {fit(safe_line(result.date), DATE_WIDTH)}" if width >= DATED else ""
        exact = " =" if own.is_known_item else ""
        head = f"{row + 1:>3} "
        score = f"{format_score(result.score):>4} "
        taken = 1 + len(head) + len(score) + self._name_width + 2 + len(exact) + len(date)
        return (
            Span(self.marker(row) + head, "dim"),
            Span(score),
            Span(fit(own.base, self._name_width) + "  ", "entity"),
            *title_spans(self._titles[row], self._shared[row], max(width - taken, 0)),
            Span(exact, "dim"),
            Span(date, "dim"),
        )


class BaseList(RowsView[BaseRow]):
    """The bases, what each holds, and what each has for the query."""

    COMPONENT_CLASSES = looks("strong", "entity", "cursor")
    BINDINGS = bindings("together_bases")
    LEAVE_ACTION = "screen.focus_query"

    def row_line(self, row: int, part: int, width: int) -> Line:
        base = self.rows[row]
        names = name_column([each.name for each in self.rows], width)
        name = Span(fit(base.name, names), "entity")
        room = max(width - names - 4, 0)
        found = shorten(base.found, max(room // 2, 0))
        holds = shorten(base.holds, max(room - cell_len(found) - 2, 0))
        gap = " " * max(room - cell_len(holds) - cell_len(found), 0)
        return (
            Span(self.marker(row) + " ", "dim"),
            name,
            Span(f"  {holds}"),
            Span(gap + found, "dim"),
        )


class TogetherLine(OrderedInput):
    BINDINGS = bindings("together_line")

    def __init__(self) -> None:
        super().__init__("search all bases: a person, a project, any words")


class Together(FrameScreen):
    """One query line, the bases, and their results in one list."""

    BINDINGS = bindings("together", "mode")
    AUTO_FOCUS = "TogetherLine"
    MODE = "together"
    MAIN_LIST = OwnedList

    def __init__(self, model: TogetherModel) -> None:
        super().__init__()
        self.model = model
        self.answer: AnswersMerged | None = None
        """The newest answer; None before the first and without a query."""

    def show_query(self, query: str) -> None:
        """Ask this query, with the focus on its results."""
        self.query_one(TogetherLine).value = query
        self.action_leave_field()

    @property
    def base_words(self) -> tuple[str, str]:
        return format_count(len(self.model.bases), "base"), "searched together"

    @property
    def root_in_hand(self) -> Path:
        """The root of the base whose modes the keys of modes open."""
        return self.model.root_of(self._name_in_hand)

    @property
    def _name_in_hand(self) -> str:
        bases = self.query_one(BaseList)
        result = self.query_one(OwnedList).current
        if result is not None and not bases.has_focus:
            return result.base
        return bases.current.name if bases.current is not None else self.model.bases[0].name

    def meanings(self) -> Iterable[tuple[str, str]]:
        match self.focused:
            case OwnedList() as results if (row := results.current) is not None:
                yield (
                    format_score(row.result.score),
                    "how well it answers, 0 to 1, in every base alike.",
                )
                yield row.base, "the base that it is in."
                if row.is_known_item:
                    yield "=", "the query is its title, path or name, so it comes first."
            case BaseList() as bases if (base := bases.current) is not None:
                yield base.holds, "what it holds, or why it cannot be searched."
                if base.found:
                    yield (
                        base.found,
                        "how many documents match, and which entities were found first.",
                    )

    def compose_panes(self) -> ComposeResult:
        results = OwnedList()
        results.empty_state = self._before_a_query
        yield TogetherLine()
        yield BaseList()
        yield results

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self.query_one(TogetherLine).border_title = "search"
        self.query_one(BaseList).border_title = "Bases"
        self.query_one(OwnedList).border_title = "Results"
        self._show_bases()

    def fit(self, size: Size) -> None:
        frame = 0 if self.has_class("-small") else 2
        self.query_one(BaseList).styles.height = len(self.model.bases) + frame

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self.model.start)

    def on_screen_suspend(self) -> None:
        self.model.rest()

    @property
    def _before_a_query(self) -> EmptyState:
        key = self.app.keymap.key_of("mode.together")
        return titled_text(
            "Type a query: all these bases are searched.",
            "Each result names its base. Enter reads it there, with the same query, and with the"
            f" reasons, sliders and entities of that base. {key} comes back to this list.",
        )

    # What has arrived.

    def on_bases_changed(self, message: BasesChanged) -> None:
        self._show_bases()

    def on_answers_merged(self, message: AnswersMerged) -> None:
        response, results = message.response, self.query_one(OwnedList)
        if response.query != self.model.query:
            return
        is_new = self.answer is None or self.answer.response.query != response.query
        self.answer = message
        self.query_one(StatusLine).clear_error()
        self.query_one(StatusLine).show_note(note_words(response))
        results.border_title = count_words(response)
        results.empty_state = titled_text(
            f"Nothing found for “{response.query}”." if message.is_complete else "Searching …"
        )
        results.show(response.results, is_new=is_new)

    def on_query_refused(self, message: QueryRefused) -> None:
        self.query_one(StatusLine).show_error(message.reason)

    @on(TogetherLine.Changed)
    def change_query(self, event: TogetherLine.Changed) -> None:
        query = event.value.strip()
        self.model.ask(query)
        if not query:
            self.answer = None
            results = self.query_one(OwnedList)
            results.border_title, results.empty_state = "Results", self._before_a_query
            results.show((), is_new=True)
            self.query_one(StatusLine).show_note("")

    @on(RowsView.Opened, "OwnedList")
    def open_result(self, event: RowsView.Opened) -> None:
        self._open(event.row.base, event.row.result.path)

    @on(RowsView.Opened, "BaseList")
    def open_one(self, event: RowsView.Opened) -> None:
        self._open(event.row.name)

    def _open(self, name: str, path: str = "") -> None:
        root = self.model.root_of(name)
        self.app.post_message(OpenBase(root, self.model.query, path))

    def _show_bases(self) -> None:
        self.query_one(BaseList).show_rows(self.model.rows, key=lambda base: base.name)

    # Actions.

    def action_focus_query(self) -> None:
        self.set_focus(self.query_one(TogetherLine))

    def action_refresh(self) -> None:
        """Index what has changed in any base."""
        self.model.start()
        self.show_notice("indexing what has changed")
