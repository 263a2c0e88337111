"""The compare mode: one query under the pinned settings A and the current settings B."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive

from kbx_tui.formatting import format_count, kept_words
from kbx_tui.safe_text import safe_line
from kbx_tui.search.ranking.explain import Comparison, RankChange, compare
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import COMPARE
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit,
    looks,
    move_text,
    paragraph,
    width_of,
    wrap,
)
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.displayed_search import pair_words, tuning_of
from kbx_tui.tui.explore.inputs import Knobs
from kbx_tui.tui.explore.presenting import result_row
from kbx_tui.tui.explore.result_list import score_spans
from kbx_tui.tui.explore.search_state import SearchState, knobs_of
from kbx_tui.tui.explore.view import ResultRow
from kbx_tui.tui.judging.judging_screen import JudgingScreen
from kbx_tui.tui.judging.live_measure import SearchSettings
from kbx_tui.tui.judging.model import JudgedDocument, grade_sign
from kbx_tui.tui.terminal_app import GoTo
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import LineWidget, RowsView, TextPane, titled_text
from kbx_tui.tui.widgets.number_slider import NumberSlider

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence


LIMIT = 10


class CompareModel:
    """Compares B, the search of the explore mode, with A, the same search with pinned settings.

    A needs its own Evidence, retrieved once, only if it has another preset or searches by words.
    """

    def __init__(self, session: BaseSession, show: Callable[[CompareView | None], object]) -> None:
        """`show` receives each comparison, or None without a query."""
        self._client, self._explore = session.client, session.explore
        self._judging, self._show = session.judging, show
        self._retrievals = LatestOnly(session.client)
        self._own: tuple[tuple[object, ...], Evidence] | None = None
        """Evidence of A, and the key that it was retrieved for."""
        self._rankings: tuple[Ranking, ...] = ()

    def explain_pair(self, marked: str, other: str) -> tuple[str, ...]:
        """Return why one path ranks above the other: a sentence for A and for B, if it has both."""
        if not marked or marked == other:
            return ()
        pairs = [pair_words(ranking, marked, other, "“{}”".format) for ranking in self._rankings]
        named = zip("AB", pairs, strict=False)
        return tuple(f"Under {name}, {words}." for name, words in named if words)

    def update(self) -> None:
        state, evidence = self._state(), self._explore.displayed.evidence
        if state is None or evidence is None or not self._explore.state.query:
            self._retrievals.cancel()
            self._show(None)
        elif self._explore.displayed.answers(self._explore.state):
            key = (*state.retrieval_key, evidence.generation)
            if self._explore.displayed.answers(state):
                own = evidence
            elif self._own is not None and self._own[0] == key:
                own = self._own[1]
            else:
                self._retrievals.start(self._retrieve(state, key))
                return
            self._retrievals.cancel()
            if (engine := self._client.engine) is not None:
                self._show(self._compare(engine, state, own, evidence))

    def stop(self) -> None:
        self._retrievals.cancel()

    def _state(self) -> SearchState | None:
        if (pinned := self._judging.pinned) is None:
            return None
        state = replace(self._explore.state, **knobs_of(pinned.tuning))
        return replace(state, mode="fast") if pinned.is_fast else state

    async def _retrieve(self, state: SearchState, key: tuple[object, ...]) -> None:
        self._own = key, await self._client.run(lambda engine: engine.retrieve(state.request()))
        if state == self._state():
            self.update()

    def _compare(
        self, engine: KnowledgeBase, state: SearchState, evidence: Evidence, current: Evidence
    ) -> CompareView:
        rankings: list[Ranking] = []
        words = []
        for side, found in ((state, evidence), (self._explore.state, current)):
            tuning = tuning_of(engine, side)
            settings = SearchSettings(tuning, side.mode == "fast").words()
            tuning = replace(tuning, muted=side.muted, pinned=side.pinned)
            # Without the reranker: only the current search waits for it.
            ranking = engine.rank(replace(found, reranker=None), tuning)
            if tuning.hierarchy and ranking.search_mode != "two_pass" and not found.fast:
                why = kept_words(ranking.search_mode, ranking.search_mode_reason, ())
                settings = f"flat: {why} · set to {settings}"
            rankings.append(ranking)
            words.append(settings)
        before, after = self._rankings = tuple(rankings)
        comparison = compare(before, after, LIMIT)
        moves = {change.path: move_text(change.distance).strip() for change in comparison.kept}
        moves |= {change.path: "lost" for change in comparison.lost}
        moves |= {change.path: "new" for change in comparison.gained}
        columns = zip_longest(
            (result_row(before.evidence, ranked) for ranked in comparison.before),
            (result_row(after.evidence, ranked) for ranked in comparison.after),
        )
        rows = tuple(RankRow(rank, *pair) for rank, pair in enumerate(columns, 1))
        return CompareView(words[0], words[1], rows, moves, comparison)


@dataclass(frozen=True, slots=True)
class RankRow:
    rank: int
    before: ResultRow | None
    after: ResultRow | None


@dataclass(frozen=True, slots=True)
class CompareView:
    before: str
    after: str
    rows: tuple[RankRow, ...]
    moves: Mapping[str, str]
    """How the document at a path moved, such as `▲2`, `lost` or `new`; empty if it did not."""
    comparison: Comparison


BOTH_FROM = 60
BARS_FROM = 120
BAR = 12


class SideBySide(RowsView[RankRow]):
    COMPONENT_CLASSES = looks(
        "strong", "accent", "document", "entity", "reranker", "rule", "bad", "grade", "cursor"
    )
    BINDINGS = bindings("side_by_side")

    on_left: reactive[bool] = reactive(False)
    grades: reactive[Mapping[str, int | None]] = reactive(dict)

    def __init__(self) -> None:
        super().__init__()
        self.moves: Mapping[str, str] = {}
        self.marked = ""

    @property
    def result(self) -> ResultRow | None:
        if (row := self.current) is None:
            return None
        is_left = self.on_left and self.line_width >= BOTH_FROM
        return row.before if is_left else row.after

    def places(self) -> Iterator[tuple[bool, int, str]]:
        """Yield side, row and path of all results, those on the right first."""
        for left in (False, True):
            for row, pair in enumerate(self.rows):
                if (result := pair.before if left else pair.after) is not None:
                    yield left, row, result.path

    def go_to(self, row: int, *, left: bool) -> None:
        self.on_left = left
        self.choose(row)

    def watch_on_left(self) -> None:
        self.cursor_moved()

    def row_line(self, row: int, part: int, width: int) -> Line:
        pair, is_here = self.rows[row], row == self.cursor
        if width < BOTH_FROM:
            return self._side(pair.rank, pair.after, width, here=is_here)
        half = (width - 3) // 2
        left = self._side(pair.rank, pair.before, half, here=is_here and self.on_left)
        right = self._side(pair.rank, pair.after, half, here=is_here and not self.on_left)
        return (*left, Span(" │ ", "rule"), *right)

    def action_side(self, left: bool) -> None:
        self.on_left = left

    def _side(self, rank: int, result: ResultRow | None, width: int, *, here: bool) -> Line:
        """Return one result in exactly `width` cells."""
        if result is None:
            return (Span(" " * width),)
        sign = "◆" if result.path == self.marked else "›" if here else " "
        line = [Span(sign, "accent"), Span(f"{rank:>2} ", "dim")]
        if width >= BARS_FROM // 2 - 2:
            line += score_spans(result, BAR)
        grade = grade_sign(self.grades, result.path)
        line += [Span(grade, "grade" if grade.strip() else "text"), Span(" ")]
        moved = self.moves[result.path]
        move = Span(f" {moved:<4}", "bad" if moved == "lost" else "accent")
        room = max(width - width_of((*line, move)), 0)
        return (*line, Span(fit(result.title, room), "strong" if moved else "text"), move)


class LostAndGained(TextPane):
    COMPONENT_CLASSES = looks("strong", "accent", "bad")

    view: CompareView | None = None
    pair: tuple[str, ...] = ()
    """Why the marked result ranks above or below the one at the cursor, under A and under B."""

    def show(self, view: CompareView | None) -> None:
        self.view = view
        self.rebuild_lines()

    def show_pair(self, pair: tuple[str, ...]) -> None:
        if pair != self.pair:
            self.pair = pair
            self.rebuild_lines()
            self.scroll_to_line(0)

    def build(self, width: int) -> list[Line]:
        lines = [line for text in self.pair for line in paragraph(text, width)]
        if lines:
            lines.append(BLANK)
        if self.view is None:
            return lines
        both = self.view.comparison
        count = len(both.moved)
        moved = f"{format_count(count, 'document')} of both moved" if count else ""
        if not (both.lost or both.gained):
            what = moved or "Nothing moved: change alpha, the threshold or the mode of B"
            return lines + paragraph(f"Both find the same. {what}.", width)
        lines += _list("Lost", "bad", both.lost, width)
        lines += _list("Gained", "accent", both.gained, width)
        return [*lines, BLANK, *paragraph(f"{moved}.", width, "dim")] if moved else lines


def _list(name: str, look: Look, changes: Sequence[RankChange], width: int) -> Iterator[Line]:
    for number, change in enumerate(changes):
        before, after = (rank or "none" for rank in (change.before, change.after))
        title = safe_line(change.title) or safe_line(change.path)
        text = f"{title}  {before} to {after}: {safe_line(change.reason)}"
        first, *rest = wrap(text, max(width - 10, 1))
        yield (Span(f"  {name if number == 0 else '':<8}", look), Span(first))
        yield from ((Span(" " * 10), Span(line, "dim")) for line in rest)


class Compare(JudgingScreen):
    BINDINGS = bindings(*COMPARE)
    AUTO_FOCUS = "SideBySide"
    MODE = "compare"
    MAIN_LIST = SideBySide

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.judge = self
        self.model = CompareModel(session, self.show_comparison)

    def compose_panes(self) -> ComposeResult:
        rows, changes = SideBySide(), LostAndGained()
        rows.empty_state = titled_text(
            "Nothing to compare yet.",
            "Go back to explore and type a query. Here you see its first results under the"
            " settings A and under the current ones.",
        )
        changes.border_title = "Lost and gained"
        yield SettingsLine()
        yield rows
        yield changes
        yield Knobs()

    def on_mount(self) -> None:
        self.session.explore.on_ranking = self.model.update
        self.query_one(Knobs).show(self.session.explore.state)
        self.model.update()

    def on_unmount(self) -> None:
        self.session.explore.on_ranking = lambda: None
        self.model.stop()

    def show_comparison(self, view: CompareView | None) -> None:
        if self not in self.app.screen_stack:
            return  # the screen is being closed
        rows = self.query_one(SideBySide)
        self.query_one(StatusLine).clear_error()
        self.query_one(SettingsLine).view = view
        self.query_one(LostAndGained).show(view)
        self._show_knobs()
        ranks, rows.moves = ((), {}) if view is None else (view.rows, view.moves)
        rows.show_rows(ranks, key=lambda row: row.rank, otherwise=rows.cursor)
        if view is not None and (left := self.session.left.pop(self.MODE, None)) is not None:
            rows.go_to(left[0], left=left[1])
        if view is not None:
            rows.border_title = Content(f"“{safe_line(self.session.explore.state.query)}”")
            self._show_pair()
            self.show_grades()

    def on_measure_changed(self) -> None:
        self.model.update()  # A may have changed

    def _show_knobs(self) -> None:
        explore, knobs = self.session.explore, self.query_one(Knobs)
        knobs.show(explore.state)
        if explore.displayed.view is not None:
            knobs.annotate(explore.displayed.view)

    @on(NumberSlider.Changed)
    def change_knob(self, event: NumberSlider.Changed) -> None:
        self.session.explore.update(**{event.slider.label: event.value})

    @on(SideBySide.Opened)
    def read_result(self) -> None:
        rows = self.query_one(SideBySide)
        if (result := rows.result) is not None:
            self.session.left[self.MODE] = rows.cursor, rows.on_left
            self.app.post_message(GoTo(path=result.path))

    @on(RowsView.Moved, "SideBySide")
    def _show_pair(self) -> None:
        rows = self.query_one(SideBySide)
        other = rows.result.path if rows.result is not None else ""
        pair = self.model.explain_pair(rows.marked, other)
        self.query_one(LostAndGained).show_pair(pair)

    def action_mark(self) -> None:
        rows = self.query_one(SideBySide)
        if rows.result is None:
            self.show_notice("no result is chosen: go to one first")
        elif rows.result.path == rows.marked:
            self._mark("")
        else:
            self._mark(rows.result.path)
            self.show_notice(f"“{rows.result.title}” is marked: go to another result")

    def _mark(self, path: str) -> None:
        rows = self.query_one(SideBySide)
        rows.marked = path
        rows.refresh()
        self._show_pair()

    def action_switch(self, setting: str) -> None:
        getattr(self.session.explore, setting)()

    def action_undo(self) -> None:
        self.session.explore.undo()
        self._show_knobs()

    def action_back(self) -> None:
        """Remove the mark, else go to the results, else back to explore."""
        rows = self.query_one(SideBySide)
        if rows.marked and rows.has_focus:
            self._mark("")
        elif rows.has_focus:
            self.app.post_message(GoTo())
        else:
            super().action_back()

    # Grading the results of both lists: first those of B, then those only in A.

    def show_grades(self) -> None:
        grades = self.session.judging.grades_of(self.session.explore.state.query)
        self.query_one(SideBySide).grades = grades

    def document_to_grade(self) -> JudgedDocument | str:
        result = self.query_one(SideBySide).result
        ranking = self.session.explore.displayed.ranking
        if result is None or ranking is None:
            return "no document is chosen: go to one first"
        return JudgedDocument(ranking.evidence.query, result.path, result.title, ranking.tuning)

    def go_to_next(self) -> str:
        rows = self.query_one(SideBySide)
        judged = self.session.judging.judged_paths(self.session.explore.state.query)
        for left, row, path in rows.places():
            if path not in judged:
                rows.go_to(row, left=left)
                return ""
        return "all results of both lists are judged" if rows.rows else "nothing to judge"

    def return_to(self, query: str, path: str) -> None:
        rows = self.query_one(SideBySide)
        if query == self.session.explore.state.query:
            found = ((left, row) for left, row, each in rows.places() if each == path)
            if (place := next(found, None)) is not None:
                rows.go_to(place[1], left=place[0])


class SettingsLine(LineWidget):
    COMPONENT_CLASSES = looks("strong", "accent")

    view: reactive[CompareView | None] = reactive(None)

    def line(self, width: int) -> Line:
        if self.view is None:
            return BLANK
        after: Line = (Span("B ", "accent"), Span(self.view.after, "strong"))
        if width < BOTH_FROM:
            return (Span(" "), *after)
        room = (width - 6) // 2 - 1
        before, *more = wrap(self.view.before, room - 2)
        before = fit(f"{before.rstrip(' ·')} …" if more else before, room)
        return (Span("   "), Span("A ", "accent"), Span(f"{before}  ", "dim"), *after)
