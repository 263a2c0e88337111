"""The search of the explore mode: its state, its answer, and what a change needs.

Retrieval does I/O and runs on the engine's thread. Ranking is pure and quick, so alpha, threshold,
muted entities and the order rank again on the event loop, without a retrieval. The reranker has a
thread of its own: it scores one passage at a time, and stops after the current one as soon as
something newer is searched or ranked.
"""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import EmbeddingError
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query_history import PastQuery
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, Status
from kbx_tui.tui.explore.displayed_search import (
    DisplayedSearch,
    outdated_files,
    read_snippets,
    tuning_of,
)
from kbx_tui.tui.explore.search_state import (
    MODES,
    PRESETS,
    SearchState,
    Undo,
    changed_fields,
    describe_undo,
    is_another_query,
    knobs_of,
    stored_settings,
)
from kbx_tui.tui.explore.view import BaseSummary, FileState
from kbx_tui.tui.judging.live_measure import SearchSettings

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.browse import EntityName
    from kbx_tui.search.completion import FilterCompletions
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.query.typed_filters import UnfinishedFilter
    from kbx_tui.search.request import Dates, Tuning
    from kbx_tui.search.results.response import Snippet

DEBOUNCE_SECONDS = 0.08
SLOW_SEARCH_SECONDS = 0.15
RERANKING_PAUSE_SECONDS = 0.2
FIRST_RESULTS = 3
MODE_HELP = {
    "two-pass": "entities first, then their documents",
    "flat": "text alone ranks, on a lower scale of scores",
    "fast": "words only, no entities and no meaning",
}
PRESET_HELP = {
    "default": "entities count as far as a document answers the rest of the query",
    "seed": "the formula of the first proposal, for comparison",
}


class ExploreModel:
    def __init__(
        self,
        client: EngineClient,
        status: Status,
        *,
        open_base: Callable[[], Awaitable[bool]],
        debounce: float = DEBOUNCE_SECONDS,
    ) -> None:
        """`open_base` opens the base if need be and returns whether it can be searched."""
        self._client, self._status, self._open_base = client, status, open_base
        self.debounce = debounce
        self.on_settings: Callable[[SearchSettings], object] = lambda settings: None
        self.on_state: Callable[[], object] = lambda: None
        """Shows the whole state, after a change that the user did not make in a field."""
        self.on_answer: Callable[[bool], object] = lambda is_new: None
        """Shows the newest ranking; `is_new` unless the same query was ranked again."""
        self.on_ranking: Callable[[], object] = lambda: None
        """Called after each ranking; set by a screen above explore that shows it, too."""
        self.on_base: Callable[[], object] = lambda: None
        """Shows `summary`, which is new."""
        self.on_completed: Callable[[str, str], object] = lambda typed, query: None
        """Shows that a query is searched for as typed, or with its last word completed."""
        self.on_slow: Callable[[], object] = lambda: None
        """Shows that a search takes long."""
        self.on_scope: Callable[[str, int], object] = lambda path, in_scope: None
        """Shows how many documents a path filter has, without a query."""
        self.on_snippets: Callable[[str, Collection[str]], object] = lambda query, paths: None
        self.on_files: Callable[[frozenset[str]], object] = lambda paths: None
        self.state = SearchState()
        self.defaults = SearchState()
        """What kbx.toml says."""
        self.displayed = DisplayedSearch(client)
        self.summary: BaseSummary | None = None
        self.wants_facets = False
        self.in_folder: Mapping[str, int] = {}
        """How many documents each folder holds that was last found to complete a path."""
        self._undo = Undo()
        self.remember, self.forget = self._undo.add, self._undo.forget
        self._changed_fields: set[str] = set()
        self._is_configured = False
        self._open_query = ""
        """The query whose last word the user may still be typing; empty if there is none."""
        self._search, self._reranking = LatestOnly(client), LatestOnly(client)
        self._retrieves: object = None
        """The `SearchState.retrieval_key` of the newest search."""
        self._growths = self._growths_shown = 0
        """How often the index has grown, and how often before what is displayed was searched."""
        self._failure: tuple[Exception | None, object] = None, ()
        """The error of the last search that failed, and what it searched for."""
        self._reranker_pool: ThreadPoolExecutor | None = None

    @property
    def is_searching(self) -> bool:
        return self._search.is_running

    @property
    def is_searchable(self) -> bool:
        return self.summary is not None and self.summary.searchable

    @property
    def shows_facets(self) -> bool:
        """Whether facets take the place of entities: on request, or in a base that has none."""
        summary = self.summary
        has_none = summary is not None and bool(summary.documents) and summary.entities == 0
        return self.wants_facets or has_none

    # Changing what is searched for.

    def update(self, **changes: Any) -> None:
        after = replace(self.state, **changes)
        if is_another_query(self.state.query, after.query):
            after = after.for_another_query(self.defaults)
        if after == self.state:
            return
        changed = changed_fields(self.state, after)
        self._changed_fields |= changed
        self._undo.remember(self.state, changed)
        self._set(after)

    def type_query(self, query: str, *, is_open: bool) -> None:
        """Search for a query as it is typed; `is_open` if its last word may still be typed.

        If that word is unknown, it is completed; `on_completed` reports to what.
        """
        was_open = bool(self._open_query)
        self._open_query = query if is_open else ""
        if query != self.state.query:
            self.update(query=query)
        elif was_open and not is_open and self.is_searching:
            self._start_search(is_typed=True)

    def apply(self, **changes: Any) -> None:
        """Change the search in one step to undo, and show the new settings in all fields."""
        if "query" in changes:
            self.run(replace(self.state, **changes))
            return
        self._undo.separate()
        self.update(**changes)
        self._undo.separate()
        self.on_state()

    def run(self, state: SearchState) -> None:
        """Search with another query and settings, in one step to undo, and show them all."""
        before = self.state
        self._changed_fields |= changed_fields(before, state)
        self._set(state, show=True)
        self._undo.add(lambda: self._set(before, show=True))

    def undo(self) -> None:
        before = self._undo.back(self.state)
        if before is None:
            self._status.show_notice("nothing to undo")
        elif isinstance(before, SearchState):
            words = describe_undo(self.state, before, self.displayed.name_of)
            self._status.show_notice(words)
            self._set(before, show=True)
        else:
            before()

    # Switches: each returns what the new setting means, to be shown as a notice.

    def next_mode(self) -> str:
        mode = MODES[(MODES.index(self.state.mode) + 1) % len(MODES)]
        self.update(mode=mode)
        follows = MODES[(MODES.index(mode) + 1) % len(MODES)]
        return f"{mode} search: {MODE_HELP[mode]}; again for {follows}"

    def next_preset(self) -> str:
        preset = PRESETS[(PRESETS.index(self.state.preset) + 1) % len(PRESETS)]
        self.update(preset=preset)
        return f"{preset} ranking: {PRESET_HELP[preset]}"

    def next_sort(self) -> str:
        sort = "date" if self.state.request().order == "score" else "score"
        self.update(sort=sort)
        return f"results are sorted by {sort} now"

    def toggle_exact(self) -> str:
        view = self.displayed.view
        if self.state.exact:
            self.update(exact=False)
            return "a scope of more than a million chunks is searched by candidates"
        if self.state.mode == "fast":
            return "a fast search compares words only, and of every chunk"
        if view is None or view.mode.candidates is None:
            nothing = "only a scope of more than a million chunks is searched by candidates"
            return f"every chunk is compared already: {nothing}"
        self.update(exact=True)
        return "every chunk is compared from now on, which takes longer"

    def toggle_spelling(self) -> str:
        """Search for misspelt words as typed, or correct them again."""
        state, evidence = self.state, self.displayed.evidence
        if self.is_searching and (evidence is None or evidence.query != state.query):
            return "still searching: a moment"
        if not state.as_typed and (evidence is None or not evidence.corrections):
            return "no word of the query was corrected"
        self.update(as_typed=not state.as_typed)
        return ""

    def use_dates(self, use: Dates) -> str:
        """Change what date words do, or back to preferring documents of that time."""
        state, view = self.state, self.displayed.view
        if state.preset != "default":
            return "the ranking of the seed reads no date words"
        if self.is_searching and (view is None or view.query != state.query):
            return "still searching: a moment"
        if state.dates != use and (view is None or view.dates is None):
            return "the query has no date words, such as `last week` or `in March`"
        self.update(dates="prefer" if state.dates == use else use)
        return ""

    def mute(self, entity_id: str) -> None:
        state = self.state
        self.update(muted=state.muted ^ {entity_id}, pinned=state.pinned - {entity_id})

    def pin(self, entity_id: str) -> None:
        state = self.state
        self.update(pinned=state.pinned ^ {entity_id}, muted=state.muted - {entity_id})

    # Settings.

    @property
    def settings(self) -> SearchSettings | None:
        engine = self._client.engine
        if engine is None or not self._is_configured:
            return None
        return SearchSettings(tuning_of(engine, self.state), self.state.mode == "fast")

    def restore_knobs(self, alpha: float, threshold: float) -> None:
        knobs: dict[str, Any] = {"alpha": alpha, "threshold": threshold}
        knobs = {name: value for name, value in knobs.items() if name not in self._changed_fields}
        self._set(replace(self.state, **knobs), show=True)

    def configure(self, tuning: Tuning, dates: Dates) -> None:
        """Apply the defaults of kbx.toml to whatever the user has not changed."""
        self._is_configured = True
        self.defaults = SearchState(**knobs_of(tuning), dates=dates)
        changes = {name: getattr(self.state, name) for name in self._changed_fields}
        self.state = replace(self.defaults, **changes)
        self._undo.forget_states()  # they hold defaults from before kbx.toml was read
        self.on_state()
        self._announce_settings()

    def set_defaults(self, tuning: Tuning) -> None:
        self.defaults = replace(self.defaults, **knobs_of(tuning))

    def _announce_settings(self) -> None:
        if (settings := self.settings) is not None:
            self.on_settings(settings)

    # The base.

    def show_base(self, summary: BaseSummary) -> None:
        self.summary = summary
        self.on_base()

    def set_searchable(self, searchable: bool) -> None:
        if self.summary is not None and self.summary.searchable != searchable:
            self.show_base(replace(self.summary, searchable=searchable))

    def forget_files(self, paths: frozenset[str]) -> None:
        self.displayed.forget_snippets(paths)
        self.on_files(paths)

    def search_again(self) -> None:
        if self._open_query and self.state.query.startswith(self._open_query):
            # Undo the completion of the last word: the index may hold it as typed by now.
            self.state = replace(self.state, query=self._open_query)
        self._growths += 1
        if self.state.query and not self.is_searching:  # else that search notices it
            self._start_search(is_new=not self.displayed.answers(self.state))

    async def complete_path(self, text: str) -> tuple[str, ...]:
        """Return completions of a path, counted in `in_folder`; none until there is an index."""

        def complete(engine: KnowledgeBase) -> tuple[tuple[str, ...], dict[str, int]]:
            found, paths = engine.documents.complete_path(text), engine.documents.paths()
            if not text and len(found) == 1:  # all is in one folder: show what that holds, too
                found += engine.documents.complete_path(found[0])
            folders = (path for path in found if path.endswith("/"))
            after = {path: bisect_left(paths, f"{path[:-1]}0") for path in folders}  # 0 follows /
            return found, {path: end - bisect_left(paths, path) for path, end in after.items()}

        if not self.is_searchable:
            return ()
        found, self.in_folder = await self._client.run(complete)
        return found

    async def complete_filter(self, unfinished: UnfinishedFilter) -> FilterCompletions | None:
        if not self.is_searchable:
            return None
        return await self._client.run(lambda engine: engine.documents.complete_filter(unfinished))

    async def find_entities(self, text: str, limit: int) -> tuple[EntityName, ...]:
        if not self.is_searchable:
            return ()
        return await self._client.run(lambda engine: engine.entities.find(text, limit))

    # The answer.

    def asked(self) -> PastQuery | None:
        if not self.state.query:
            return None
        view = self.displayed.view if self.displayed.answers(self.state) else None
        return PastQuery(
            self.state.query,
            found=None if view is None else view.matched,
            first=() if view is None else tuple(row.path for row in view.results[:FIRST_RESULTS]),
            settings=stored_settings(self.state),
        )

    def request_snippets(self, paths: Sequence[str]) -> None:
        displayed = self.displayed
        missing = [path for path in paths if path not in displayed.requested_snippets]
        if missing and displayed.evidence is not None:
            displayed.requested_snippets.update(missing)
            self._client.start(self._read_snippets(displayed.evidence, missing))

    async def _read_snippets(self, evidence: Evidence, paths: Sequence[str]) -> None:
        displayed = self.displayed

        def read(engine: KnowledgeBase) -> tuple[dict[str, Snippet], dict[str, FileState]]:
            if not displayed.holds(evidence):
                return {}, {}
            return read_snippets(engine, evidence, paths), outdated_files(engine, paths)

        snippets, outdated = await self._client.run(read)
        if snippets and displayed.holds(evidence):
            displayed.snippets |= snippets
            displayed.outdated |= outdated
            self.on_snippets(evidence.query, snippets)

    # Searching and ranking.

    def _set(self, after: SearchState, *, show: bool = False) -> None:
        before, self.state = self.state, after
        self._announce_settings()
        if not after.query:
            self._reranking.cancel()
            self._search.cancel()
            self.displayed.clear()
            if after.path != before.path:
                self._client.start(self._count_scope(after.path))
        elif self.displayed.answers(after):
            if self._retrieves != after.retrieval_key:  # typed back to what is shown
                self._search.cancel()
                if self._growths_shown != self._growths:  # that search was to read the newer index
                    self._start_search(is_new=False)
            self._rank(is_new=False)
        else:
            self._reranking.cancel()
            if after.query != before.query:
                self._start_search(is_typed=True)
            elif not (self.is_searching and self._retrieves == after.retrieval_key):
                self._start_search()
        if show:
            self.on_state()

    def _start_search(self, *, is_typed: bool = False, is_new: bool = True) -> None:
        self._retrieves = self.state.retrieval_key
        self._search.start(self._run(self.debounce if is_typed else 0.0, is_new=is_new))

    async def _run(self, pause: float, *, is_new: bool) -> None:
        await asyncio.sleep(pause)  # a further key cancels this search here
        growths = -1
        while growths != self._growths:  # the search may have read the index from before it grew
            growths = self._growths
            try:
                found = await self._retrieve(self.state)
            except Exception as error:
                if growths == self._growths:
                    self._failure = error, self._retrieves
                    raise
                continue
            if found is None:
                continue
            state, evidence, trouble = found
            self._growths_shown = growths
            self._take_evidence(state, evidence, is_new)
            is_new = False
            if trouble:
                self._status.show_error(f"found by words alone: {trouble}")

    async def _retrieve(self, state: SearchState) -> tuple[SearchState, Evidence, str] | None:
        """Return the evidence for `state`, with its query completed; None without an index.

        Without the model, documents are found by words, and a text says why.
        """

        def read(engine: KnowledgeBase) -> tuple[SearchState, Evidence, str]:
            completed = state
            if state.query == self._open_query:
                completed = replace(state, query=engine.documents.complete_query(state.query))
            request, trouble = completed.request(), ""
            try:
                evidence = engine.retrieve(request)
            except EmbeddingError as error:
                evidence = engine.retrieve(replace(request, fast=True))
                trouble = safe_line(str(error))
            from kbx_tui.tui.explore import presenting  # noqa: F401  # here, not between frames

            return completed, evidence, trouble

        slow = asyncio.get_running_loop().call_later(SLOW_SEARCH_SECONDS, self._say_searching)
        try:
            if not await self._open_base():
                return None  # a search follows as soon as the index holds text
            return await self._client.run(read)
        finally:
            slow.cancel()

    def _take_evidence(self, state: SearchState, evidence: Evidence, is_new: bool) -> None:
        if self.state.query == self._open_query:
            self.on_completed(self._open_query, state.query)
            self.state = replace(self.state, query=state.query)
        self.displayed.show(state, evidence)
        self._rank(is_new=is_new)

    def is_past(self, error: Exception) -> bool:
        """Return whether an error is of a search for what is no longer asked."""
        failure, searched = self._failure
        return error is failure and searched != self.state.retrieval_key

    def _say_searching(self) -> None:
        if self.is_searchable and not self.displayed.answers(self.state):
            self.on_slow()

    def _rank(self, *, is_new: bool) -> None:
        """Show the new ranking at once; the reranker follows, if kbx.toml names one."""
        self._show_ranking(is_new=is_new)
        engine = self._client.engine
        if engine is not None and engine.settings.search.reranker:
            self._reranking.start(self._rerank())

    def _show_ranking(self, *, is_new: bool) -> None:
        if self._is_configured and self.displayed.rank(self.state) is not None:
            if self.displayed.answers(self.state):
                self.on_answer(is_new)
            self.on_ranking()

    async def _rerank(self) -> None:
        await asyncio.sleep(RERANKING_PAUSE_SECONDS if self.debounce else 0.0)
        if (ranking := self.displayed.ranking) is None:
            return
        pending = await self._client.run(lambda engine: engine.begin_reranking(ranking))
        if pending is None:
            return
        if self._reranker_pool is None:
            self._reranker_pool = ThreadPoolExecutor(1, thread_name_prefix="kbx-rerank")
        cancelled, closed = threading.Event(), self._client.closed

        def is_cancelled() -> bool:
            return cancelled.is_set() or closed.is_set()

        try:
            scoring = self._reranker_pool.submit(pending.run, is_cancelled)
            evidence = await asyncio.wrap_future(scoring)
        finally:
            cancelled.set()
        if self.displayed.holds(evidence) and evidence is not self.displayed.evidence:
            self.displayed.evidence = evidence
            self._show_ranking(is_new=False)

    async def _count_scope(self, path: str) -> None:
        def count(engine: KnowledgeBase) -> int | None:
            return engine.documents.count_scope(path)[0] if path == self.state.path else None

        if self.is_searchable and (in_scope := await self._client.run(count)) is not None:
            self.on_scope(path, in_scope)
