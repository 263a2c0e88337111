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
from kbx_tui.search.query.filters import Dates
from kbx_tui.search.query_history import PastQuery
from kbx_tui.tui.engine.client import EngineClient, Status
from kbx_tui.tui.explore.displayed_search import DisplayedSearch, SnippetReader, tuning_of
from kbx_tui.tui.explore.search_run import DEBOUNCE_SECONDS, PAUSE_SECONDS, RerankingPass, SearchRun
from kbx_tui.tui.explore.search_state import (
    MODES,
    PRESETS,
    SearchState,
    Undo,
    UndoCall,
    changed_fields,
    describe_undo,
    knobs_of,
    stored_settings,
)
from kbx_tui.tui.explore.view import (
    BaseCounted,
    BaseSummary,
    ExploreView,
    FilesChanged,
    QueryCompleted,
    RankingReady,
    ResultRow,
    ScopeCounted,
    ScopeView,
    SearchSlow,
    StateReplaced,
    Why,
)
from kbx_tui.tui.judging.search_settings import SearchSettings

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.browse import EntityName
    from kbx_tui.search.completion import FilterCompletions
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.search.query.filters import UnfinishedFilter


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
            return engine.documents.count_scope(path) if path == self.state.path else None

        if self.is_searchable and (counts := await self._client.run(count)) is not None:
            self.post(ScopeCounted(ScopeView(safe_line(path), *counts)))


class Completions:
    """Completions from the index; none until there is one."""

    def __init__(self, client: EngineClient, is_searchable: Callable[[], bool]) -> None:
        self._client, self._is_searchable = client, is_searchable

    async def path(self, text: str) -> tuple[str, ...]:
        """Return completions of the path `text`."""
        if not self._is_searchable():
            return ()
        return await self._client.run(lambda engine: engine.documents.complete_path(text))

    async def filter(self, unfinished: UnfinishedFilter) -> FilterCompletions | None:
        """Return how the filter at the end of a query may go on."""
        if not self._is_searchable():
            return None
        return await self._client.run(lambda engine: engine.documents.complete_filter(unfinished))

    async def entities(self, text: str) -> tuple[EntityName, ...]:
        """Return the entities that match part of a name."""
        if not self._is_searchable():
            return ()
        return await self._client.run(lambda engine: engine.entities.find(text))


MODE_HELP = {
    "two-pass": "entities first, then their documents",
    "flat": "documents ranked without entities",
    "fast": "words only, no entities and no meaning",
}
PRESET_HELP = {
    "default": "entities count as far as a document answers the rest of the query",
    "seed": "the formula of the first proposal, for comparison",
}


class SearchSwitches:
    """Switches the search of a model, and says what the new setting means."""

    def __init__(
        self,
        model: ExploreModel,
        view: Callable[[], ExploreView | None],
        show_notice: Callable[[str], object],
    ) -> None:
        """`view` returns the answer shown."""
        self._model, self._view, self._show_notice = model, view, show_notice

    def next_mode(self) -> None:
        """Switch between two-pass, flat and fast search."""
        mode = MODES[(MODES.index(self._model.state.mode) + 1) % len(MODES)]
        self._model.update(mode=mode)
        self._show_notice(f"{mode} search: {MODE_HELP[mode]}")

    def next_preset(self) -> None:
        """Switch between the formulas."""
        preset = PRESETS[(PRESETS.index(self._model.state.preset) + 1) % len(PRESETS)]
        self._model.update(preset=preset)
        self._show_notice(f"{preset} ranking: {PRESET_HELP[preset]}")

    def next_sort(self) -> None:
        """Sort by score or by date."""
        sort = "date" if self._model.state.sort == "score" else "score"
        self._model.update(sort=sort)
        if self._view() is None:
            self._show_notice(f"results are sorted by {sort} now")

    def toggle_exact(self) -> None:
        """Compare every chunk in meaning, or only candidates in a scope of more than a million."""
        view, is_exact = self._view(), self._model.state.exact
        if is_exact:
            self._model.update(exact=False)
            self._show_notice("a scope of more than a million chunks is searched by candidates")
        elif self._model.state.mode == "fast":
            self._show_notice("a fast search compares words only, and of every chunk")
        elif view is None or view.mode.candidates is None:
            nothing = "only a scope of more than a million chunks is searched by candidates"
            self._show_notice(f"every chunk is compared already: {nothing}")
        else:
            self._model.update(exact=True)
            self._show_notice("every chunk is compared from now on, which takes longer")

    def dates(self, use: Dates) -> None:
        """Change what date words do, or back to preferring documents of that time."""
        state, view = self._model.state, self._view()
        if state.preset != "default":
            self._show_notice("the ranking of the seed reads no date words")
        elif self._model.is_searching and (view is None or view.query != state.query):
            self._show_notice("still searching: a moment")
        elif state.dates != use and (view is None or view.dates is None):
            self._show_notice("the query has no date words, such as `last week` or `in March`")
        else:
            self._model.update(dates="prefer" if state.dates == use else use)

    def mute(self, entity_id: str) -> None:
        """Exclude an entity from this query, or include it again; it is pinned no longer."""
        state = self._model.state
        self._model.update(muted=state.muted ^ {entity_id}, pinned=state.pinned - {entity_id})

    def pin(self, entity_id: str) -> None:
        """Use an entity whatever its score, or unpin it; it is muted no longer."""
        state = self._model.state
        self._model.update(pinned=state.pinned ^ {entity_id}, muted=state.muted - {entity_id})
