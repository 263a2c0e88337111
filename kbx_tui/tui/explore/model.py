"""The search of the explore mode: its state, its answer, and what a change needs.

Retrieval does I/O and runs on the engine's thread. Ranking is pure and quick, so alpha, threshold,
muted entities and the order rank again on the event loop, without a retrieval.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.search.query_history import PastQuery
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.engine.status import Status
from kbx_tui.tui.explore.displayed_search import DisplayedSearch, tuning_of
from kbx_tui.tui.explore.documents.snippet_reader import SnippetReader
from kbx_tui.tui.explore.messages import (
    BaseCounted,
    FilesChanged,
    QueryCompleted,
    RankingReady,
    ScopeCounted,
    SearchSlow,
    StateReplaced,
)
from kbx_tui.tui.explore.narrowing.completions import Completions
from kbx_tui.tui.explore.reranking_pass import PAUSE_SECONDS, RerankingPass
from kbx_tui.tui.explore.search_run import DEBOUNCE_SECONDS, SearchRun
from kbx_tui.tui.explore.search_state import (
    SearchState,
    Undo,
    UndoCall,
    changed_fields,
    describe_undo,
    knobs_of,
)
from kbx_tui.tui.explore.stored_settings import stored_settings
from kbx_tui.tui.explore.view import BaseSummary, ExploreView, ResultRow, ScopeView, Why
from kbx_tui.tui.judging.search_settings import SearchSettings

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.search.query.filters import Dates

FIRST_RESULTS = 3
"""Results that are noted with a query."""
MOVES_AMONG = 10
"""First results among which the tour looks for one that moves."""


class ExploreModel:
    """The state of the search, and the answer on the screen."""

    def __init__(
        self,
        client: EngineClient,
        status: Status,
        *,
        open_base: Callable[[], Awaitable[bool]],
        debounce: float = DEBOUNCE_SECONDS,
        on_settings: Callable[[SearchSettings], object] = lambda settings: None,
    ) -> None:
        """`open_base` opens the base if need be and returns whether it can be searched.

        `on_settings` receives the current settings whenever they have changed.
        """
        self._client, self._status = client, status
        self._on_settings = on_settings
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self.on_ranking: Callable[[], object] = lambda: None
        """Called after each ranking; set by a screen above explore that shows it, too."""
        self.state = SearchState()
        """What is searched for now."""
        self.defaults = SearchState()
        """What kbx.toml says."""
        self.displayed = DisplayedSearch()
        """The answer on the screen."""
        self.summary: BaseSummary | None = None
        """The open base; None before it is open."""
        self._undo = Undo()
        self._changed_fields: set[str] = set()
        self._is_configured = False
        self._open_query = ""
        """The query whose last word the user may still be typing; empty if there is none."""
        self.completions = Completions(client, lambda: self.is_searchable)
        self.snippets = SnippetReader(client, self.displayed, lambda message: self.post(message))
        self._search = SearchRun(
            client,
            state=lambda: self.state,
            open_base=open_base,
            debounce=debounce,
            is_open=lambda query: query == self._open_query,
            on_slow=self._say_searching,
            on_evidence=self._take_evidence,
        )
        self._reranking = RerankingPass(
            client,
            self.displayed,
            pause=PAUSE_SECONDS if debounce else 0.0,
            on_scores=lambda: self._show_ranking(is_new=False),
        )

    @property
    def is_searching(self) -> bool:
        """Whether a search is in progress or about to start."""
        return self._search.is_running

    @property
    def is_reranking(self) -> bool:
        """Whether the reranker is at work or about to start."""
        return self._reranking.is_running

    @property
    def is_searchable(self) -> bool:
        """Whether there is an index to search."""
        return self.summary is not None and self.summary.searchable

    def is_current(self, view: ExploreView) -> bool:
        """Return whether a view shows the newest ranking of the current query."""
        return view is self.displayed.view and self.displayed.answers(self.state)

    # Changing what is searched for.

    def update(self, **changes: Any) -> None:
        """Change the search: retrieve after a pause in typing, or only rank again."""
        after = replace(self.state, **changes)
        if not after.query:  # these hold for one query
            after = after.for_another_query(self.defaults)
        if after == self.state:
            return
        changed = changed_fields(self.state, after)
        self._changed_fields |= changed
        self._undo.remember(self.state, changed)
        self._set(after)

    def type_query(self, query: str, *, is_open: bool) -> None:
        """Search for a query as it is typed; `is_open` if its last word may still be typed.

        If such a word is none of the base, a word that begins like it is searched for instead, and
        is part of the query from then on; `QueryCompleted` reports it.
        """
        was_open = bool(self._open_query)
        self._open_query = query if is_open else ""
        if query != self.state.query:
            self.update(query=query)
        elif was_open and not is_open and self.is_searching:
            self._search.start(is_typed=True)

    def apply(self, **changes: Any) -> None:
        """Change the search in one step to undo, and show the new settings in all fields."""
        if "query" in changes:
            self.run(replace(self.state, **changes))
            return
        self._undo.separate()
        self.update(**changes)
        self._undo.separate()
        self.post(StateReplaced(self.state))

    def run(self, state: SearchState) -> None:
        """Search with another query and settings, in one step to undo, and show them all."""
        before = self.state
        self._changed_fields |= changed_fields(before, state)
        self._show_state(state)
        self._undo.remember_call(lambda: self._show_state(before))

    def _show_state(self, state: SearchState) -> None:
        self._set(state)
        self.post(StateReplaced(state))

    def undo(self) -> None:
        """Undo the last change, of the search or a change that `remember` was given."""
        before = self._undo.back(self.state)
        if before is None:
            self._status.show_notice("nothing to undo")
            return
        if not isinstance(before, SearchState):
            before()
            return
        self._status.show_notice(describe_undo(self.state, before, self.displayed.name_of))
        self._set(before)
        self.post(StateReplaced(before))

    def remember(self, undo: UndoCall) -> None:
        """Let `undo` take back a change that has just been made elsewhere."""
        self._undo.remember_call(undo)

    def forget(self, undo: UndoCall) -> None:
        """Do not undo a change that did not happen after all."""
        self._undo.forget_call(undo)

    def asked(self) -> PastQuery | None:
        """Return the current query with its settings and what it found; None without one."""
        if not self.state.query:
            return None
        view = self.displayed.view if self.displayed.answers(self.state) else None
        return PastQuery(
            self.state.query,
            found=None if view is None else view.matched,
            first=() if view is None else tuple(row.path for row in view.results[:FIRST_RESULTS]),
            settings=stored_settings(self.state),
        )

    @property
    def engine(self) -> KnowledgeBase | None:
        """The engine, for calls without I/O; None until it is open."""
        return self._client.engine

    @property
    def settings(self) -> SearchSettings | None:
        """The current settings; None before kbx.toml is read."""
        engine = self._client.engine
        if engine is None or not self._is_configured:
            return None
        return SearchSettings(tuning_of(engine, self.state), self.state.mode == "fast")

    def restore_knobs(self, alpha: float, threshold: float) -> None:
        """Restore alpha and threshold of the last session, unless the user has moved them."""
        knobs: dict[str, Any] = {"alpha": alpha, "threshold": threshold}
        knobs = {name: value for name, value in knobs.items() if name not in self._changed_fields}
        self._set(replace(self.state, **knobs))
        self.post(StateReplaced(self.state))

    def configure(self, tuning: Tuning, dates: Dates) -> None:
        """Apply the defaults of kbx.toml to whatever the user has not changed."""
        self._is_configured = True
        self.defaults = SearchState(**knobs_of(tuning), dates=dates)
        changes = {name: getattr(self.state, name) for name in self._changed_fields}
        self.state = replace(self.defaults, **changes)
        self._undo.forget_states()  # they hold defaults from before kbx.toml was read
        self.post(StateReplaced(self.state))
        self._announce_settings()

    def set_defaults(self, tuning: Tuning) -> None:
        """Note what kbx.toml says now; the current settings stay."""
        self.defaults = replace(self.defaults, **knobs_of(tuning))

    # The base.

    def show_base(self, summary: BaseSummary) -> None:
        """Store the counts of the base, and show them."""
        self.summary = summary
        self.post(BaseCounted(summary))

    def set_searchable(self, searchable: bool) -> None:
        """Note whether there is an index to search."""
        if self.summary is not None and self.summary.searchable != searchable:
            self.show_base(replace(self.summary, searchable=searchable))

    def forget_files(self, paths: frozenset[str]) -> None:
        """Read the displayed content of these changed files again."""
        self.displayed.forget_snippets(paths)
        self.post(FilesChanged(paths))

    def search_again(self) -> None:
        """Search again, because the index has new content."""
        if self._open_query and self.state.query.startswith(self._open_query):
            self.state = replace(self.state, query=self._open_query)  # it may be a word by now
        if self._search.is_running:
            self._search.note_growth()
        elif self.state.query:
            self._search.start(is_new=not self.displayed.answers(self.state))

    # Reading what belongs to the answer.

    def explain(self, result: ResultRow) -> Why | None:
        """Return the reasons for a result of the newest ranking."""
        engine = self._client.engine
        return None if engine is None else self.displayed.explain(engine, result)

    def explain_pair(self, path: str, result: ResultRow) -> str:
        """Return why the document at `path` is before or behind a result; empty if it is none."""
        engine = self._client.engine
        return "" if engine is None else self.displayed.explain_pair(engine, path, result)

    def paths_after_alpha_step(self, step: float) -> tuple[str, ...]:
        """Return the paths of the best results if alpha were higher by `step`."""
        engine, evidence = self._client.engine, self.displayed.evidence
        if engine is None or evidence is None:
            return ()
        alpha = min(self.state.alpha + step, 1.0)
        state = replace(self.state, alpha=alpha)
        ranking = engine.rank(evidence, engine.tuning(preset=state.preset, **state.tuning_fields))
        return tuple(evidence.paths[ranked.row] for ranked in ranking.top(MOVES_AMONG))

    # Running a search.

    def _set(self, after: SearchState) -> None:
        before, self.state = self.state, after
        self._announce_settings()
        self._reranking.cancel()
        if not after.query:
            self._search.cancel()
            self.displayed.clear()
            if after.path != before.path:
                self._client.start(self._count_scope(after.path))
        elif self.displayed.answers(after):
            if not self._search.retrieves(after):  # typed back to what is shown
                self._search.cancel()
            self._rank(is_new=False)
        elif after.query != before.query:
            self._search.start(is_typed=True)
        elif not (self.is_searching and self._search.retrieves(after)):
            self._search.start()

    def _announce_settings(self) -> None:
        if (settings := self.settings) is not None:
            self._on_settings(settings)

    def _take_evidence(self, state: SearchState, evidence: Evidence, is_new: bool) -> None:
        if self.state.query == self._open_query:
            self.post(QueryCompleted(self._open_query, state.query))
            self.state = replace(self.state, query=state.query)
        self.displayed.show(state, evidence)
        self._rank(is_new=is_new)

    def _say_searching(self) -> None:
        if self.is_searchable and not self.displayed.answers(self.state):
            self.post(SearchSlow())

    def _rank(self, *, is_new: bool) -> None:
        """Show the new ranking at once; the reranker follows, if kbx.toml names one."""
        self._show_ranking(is_new=is_new)
        engine = self._client.engine
        if engine is not None and engine.settings.search.reranker:
            self._reranking.start()

    def _show_ranking(self, *, is_new: bool) -> None:
        engine = self._client.engine
        if engine is not None and self._is_configured:
            view = self.displayed.rank(engine, self.state)
            if view is not None:
                self.post(RankingReady(view, is_new))
                self.on_ranking()

    async def _count_scope(self, path: str) -> None:
        def count(engine: KnowledgeBase) -> tuple[int, int] | None:
            return engine.count_scope(path) if path == self.state.path else None

        if self.is_searchable and (counts := await self._client.run(count)) is not None:
            self.post(ScopeCounted(ScopeView(safe_line(path), *counts)))
