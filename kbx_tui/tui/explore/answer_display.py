"""Shows the answer to a search in the panes of the explore screen, or what to do without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.screen import Screen

from kbx_tui.formatting import format_count
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import width_of
from kbx_tui.tui.explore.messages import FileState
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.narrowing.facet_sidebar import FacetSidebar
from kbx_tui.tui.explore.panes import empty_states
from kbx_tui.tui.explore.panes.date_chip import DateChip
from kbx_tui.tui.explore.panes.entity_list import EntityList, EntityStrip
from kbx_tui.tui.explore.panes.filter_chip import FilterChip
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.mode_badge import ModeBadge
from kbx_tui.tui.explore.panes.pane_layout import Panes
from kbx_tui.tui.explore.panes.path_field import PathField
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.explore.search_labels import mode_candidates
from kbx_tui.tui.explore.view import (
    EXPERTS_KEY,
    EntityRow,
    ExploreView,
    ResultRow,
    ScopeView,
)
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.line_widget import LineWidget
from kbx_tui.tui.widgets.lines_view import EmptyState, blank
from kbx_tui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from kbx_tui.search.results.response import Snippet

ALPHA_STEP = 0.05
"""How far a key moves alpha."""
RECENT_QUERIES = 3
"""Earlier queries that an empty result list offers."""


class AnswerDisplay:
    """The display of the answer to the current query."""

    def __init__(
        self,
        screen: Screen[None],
        model: ExploreModel,
        app_state: AppState,
        keymap: Callable[[], Keymap],
        facets: FacetSidebar,
    ) -> None:
        """`keymap` returns the current keys."""
        self._screen, self._model, self._app_state = screen, model, app_state
        self._keymap, self._facets = keymap, facets
        self.view: ExploreView | None = None
        """The answer shown; None before the first and without a query."""

    def show(self, view: ExploreView, keymap: Keymap, *, is_new: bool) -> None:
        """Show a ranking: of a new query, or of the same one under other knobs."""
        self.view = view
        status = self._screen.query_one(StatusLine)
        status.clear_error()
        status.show_note(view.note.replace(EXPERTS_KEY, keymap.key_of("mode.experts")))
        self._show_badge(mode_candidates(view.mode))
        self.show_scope(view.scope)
        chip = self._screen.query_one(DateChip)
        if view.dates is None:
            chip.hide()
        else:
            chip.show(view.dates, keymap)
        words = self._model.state.extra_words(self._model.defaults)
        self._screen.query_one(FilterChip).show(view.filters, words, keymap)
        self._leave_room_for_chips()
        self._screen.query_one(Knobs).annotate(view)
        entities = self._screen.query_one(EntityList)
        is_fast = view.mode.name == "fast"
        entities.empty_state = (
            empty_states.no_entities_when_fast if is_fast else empty_states.no_entities
        )
        self._show_entities(view.entities, view.threshold, is_new=is_new)
        self._facets.update()
        results = self._screen.query_one(ResultList)
        scored = f"{view.scope.in_scope:,}"
        if view.mode.candidates is not None:
            scored = f"{view.mode.candidates:,} candidates"
        count = view.order or f"{view.matched:,} of {scored}"
        if view.scope.left_out:
            count += f" · {format_count(view.scope.left_out, 'muted document')} left out"
        if view.gated:
            count += f" · {view.gated:,} left out by the gate"
        results.show_count(count)
        self._screen.query_one(Panes).remove_class("-idle")
        if view.results:
            more = 0 if view.order else view.matched - len(view.results)
            results.show(view.results, fresh=is_new, more=more)
        else:
            results.show_empty(empty_states.no_results(view, keymap))
            self._show_no_reasons(blank)

    def clear(self) -> None:
        """Clear the answer, and show what the user could type."""
        self.view = None
        self._screen.query_one(StatusLine).show_note("")
        self._screen.query_one(DateChip).hide()
        self._screen.query_one(FilterChip).hide()
        self._leave_room_for_chips()
        self._screen.query_one(Knobs).annotate(None)
        self._screen.query_one(EntityList).empty_state = empty_states.entities_without_query
        self._show_entities((), self._model.state.threshold)
        self._facets.update()
        self._screen.query_one(ResultList).show_count("")
        self._show_examples()
        self._show_no_reasons(empty_states.why_without_query)
        self._screen.query_one(Panes).add_class("-idle")
        self._show_badge(())

    def show_base(self) -> None:
        """Show what the base holds where there is no answer."""
        self._facets.update()
        if self.view is None:
            self._show_examples()

    def show_slow(self) -> None:
        """Show that a search is in progress."""
        self._show_badge(("searching …",), busy=True)

    def show_failure(self, text: str) -> None:
        """Show an error in place of results, unless there are results to keep."""
        view = self.view
        self._show_badge(mode_candidates(view.mode) if view is not None else ())
        if view is None:
            is_open = self._model.summary is not None
            failed = empty_states.search_failed(text, is_open=is_open)
            self._screen.query_one(ResultList).show_empty(failed)

    def show_scope(self, scope: ScopeView | None) -> None:
        """Show how many documents match the path."""
        self._screen.query_one(PathField).show(scope)

    def show_scope_without_query(self, scope: ScopeView) -> None:
        """Show how many documents match the path before anything has been typed."""
        if self.view is None:
            self._screen.query_one(StatusLine).clear_error()  # of an earlier invalid path
            self._show_examples()
            self.show_scope(scope)
            self._facets.update()

    def show_snippets(
        self,
        query: str,
        snippets: Mapping[str, Snippet],
        outdated: Mapping[str, FileState],
    ) -> None:
        """Show snippets, by path, below their results, and which of their files are `outdated`."""
        if self.view is None or query != self.view.query:
            return
        results = self._screen.query_one(ResultList)
        results.add_snippets(snippets, outdated)
        if results.current is not None and results.current.path in snippets:
            self.explain(results.current)

    def explain(self, result: ResultRow) -> None:
        """Show why this result has its rank."""
        why = self._model.explain(result)
        snippet = self._model.displayed.snippets.get(result.path)
        marked = self._screen.query_one(ResultList).marked
        difference = self._model.explain_pair(marked, result) if marked else ""
        self._screen.query_one(WhyPane).show(why, snippet, difference)

    def row_that_moves(self) -> str:
        """Return which row the next step of alpha moves up: `row 5`; empty if it moves none."""
        row = self._index_that_moves()
        return "" if row is None else f"row {row + 1}"

    def show_row_that_moves(self) -> None:
        """Put the cursor on that row if it is out of view, so that it stays in view as it moves."""
        results, row = self._screen.query_one(ResultList), self._index_that_moves()
        if row is not None and row not in results.visible_rows():
            results.choose(row)

    def _index_that_moves(self) -> int | None:
        paths = [result.path for result in self._screen.query_one(ResultList).rows]
        moved = self._model.paths_after_alpha_step(ALPHA_STEP)
        pairs = zip(paths, moved, strict=False)
        path = next((after for before, after in pairs if before != after), "")
        return paths.index(path) if path in paths else None

    def toggle_mark(self) -> str:
        """Mark the result under the cursor, or no result if it is marked; return its title."""
        results = self._screen.query_one(ResultList)
        result = results.current
        if result is None or result.path == results.marked:
            self.unmark()
            return ""
        results.mark(result.path)
        self.explain(result)
        return result.title

    def unmark(self) -> bool:
        """Mark no result; return whether one was marked."""
        results = self._screen.query_one(ResultList)
        was_marked = bool(results.marked)
        results.mark("")
        if was_marked and results.current is not None:
            self.explain(results.current)
        return was_marked

    def _show_entities(
        self, entities: tuple[EntityRow, ...], threshold: float, *, is_new: bool = False
    ) -> None:
        self._screen.query_one(EntityStrip).show(entities, threshold)
        self._screen.query_one(EntityList).show(entities, threshold, fresh=is_new)

    def _show_badge(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        self._screen.query_one(ModeBadge).show(candidates, busy=busy)
        self._screen.query_one(QueryLine).show_badge(candidates)

    def _leave_room_for_chips(self) -> None:
        chips: tuple[LineWidget, ...] = (
            self._screen.query_one(DateChip),
            self._screen.query_one(FilterChip),
        )
        room = self._screen.size.width
        cells = sum(width_of(chip.line(room)) + 1 for chip in chips if chip.display)
        self._screen.query_one(QueryLine).leave_room(cells)
        self._screen.query_one(ResultList).leave_room(cells)

    def _show_examples(self) -> None:
        recent = tuple(self._app_state.queries[:RECENT_QUERIES])
        key = self._keymap().key_of("query.earlier")
        examples = empty_states.no_query(self._model.summary, recent, key)
        self._screen.query_one(ResultList).show_empty(examples)

    def _show_no_reasons(self, empty_state: EmptyState) -> None:
        pane = self._screen.query_one(WhyPane)
        pane.empty_state = empty_state
        pane.show(None, None)
        if self._screen.query_one(Panes).read != "document":
            self._screen.query_one(PreviewPane).clear()
