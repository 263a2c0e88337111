"""What stands between screen and engine. It posts messages and touches no widget.

Everything that does I/O (`engine_calls`) runs on one thread, one call after the other. Ranking is
pure and takes milliseconds, so knobs rank on the event loop (`shown`) and never retrieve. Indexing
and watching (`upkeep`) have threads and engines of their own. Nothing else calls the engine.

Each retrieval gets the next generation. An answer of another generation than the newest is
dropped, so a slow answer never replaces a newer one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from kbx_tui.errors import KbxError
from kbx_tui.log_file import logger
from kbx_tui.safe_text import visible
from kbx_tui.tui.dedup.model import Reviewing
from kbx_tui.tui.engine.engine import OpenEngine
from kbx_tui.tui.engine.engine_calls import EngineCalls
from kbx_tui.tui.engine.index_sync import Upkeep
from kbx_tui.tui.engine.threads import EngineThread, Loop
from kbx_tui.tui.experts.model import Expertise
from kbx_tui.tui.explore.displayed_search import Shown
from kbx_tui.tui.explore.search_state import Asking, Undo, change_words, changed_fields
from kbx_tui.tui.explore.view import ResultRow, SnippetView, Why
from kbx_tui.tui.messages import (
    Asked,
    Configured,
    Failed,
    FilesChanged,
    Noticed,
    Opened,
    Ranked,
    Scoped,
    Searching,
    SnippetsReady,
)
from kbx_tui.tui.reading.model import Reading

if TYPE_CHECKING:
    from kbx_tui.search.browsing.card import EntityName
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning

DEBOUNCE = 0.08
"""Seconds without a key before a query is searched."""
PATIENCE = 0.15
"""Seconds after which a search is said to be under way."""


class Controller:
    """Turns what a person does into engine calls, and their results into messages."""

    def __init__(
        self, open_engine: OpenEngine, post: Callable[[Message], object], debounce: float = DEBOUNCE
    ) -> None:
        self.generation = 0
        """Of the newest retrieval."""
        self.asking = Asking()
        """What is asked for now."""
        self.defaults = Asking()
        """What kbx.toml says."""
        self.shown = Shown()
        """The answer on the screen."""
        self._calls = EngineCalls(open_engine)
        self._post, self._debounce = post, debounce
        self._loop = Loop()
        self._thread = EngineThread(self._loop, self._failed)
        self.reading = Reading(
            self._loop, self._thread, self._calls, post, lambda: self.shown.evidence
        )
        self.expertise = Expertise(self._loop, self._thread, self._calls, post)
        self.upkeep = Upkeep(self._loop, self._calls, post, grown=self._grown, failed=self._failed)
        self.reviewing = Reviewing(
            self._loop, self._thread, self._calls, post, wrote=self.upkeep.expect
        )
        self._undo = Undo()
        self._turned: set[str] = set()
        self._searchable = False
        self._tuning: Tuning | None = None
        self._retrieving = False
        self._asked: object = None
        """What the retrieval under way is for."""
        self._behind = False
        """Whether the index grew while a retrieval was under way."""
        self._timer: asyncio.TimerHandle | None = None

    # What the screen asks for, on the event loop.

    def start(self) -> None:
        """Open the knowledge base; call after the first paint."""
        self._loop.adopt()
        self._thread.submit(self._open)

    def ask(self, **changes: Any) -> None:
        """Ask for something else: retrieve once no further key has come, or only rank."""
        after = replace(self.asking, **changes)
        if not after.query:  # muting and pinning are for one query
            after = replace(after, muted=frozenset(), pinned=frozenset())
        if after == self.asking:
            return
        changed = changed_fields(self.asking, after)
        self._turned |= changed
        self._undo.remember(self.asking, changed)
        self._take(after)

    def restore(self, alpha: float, threshold: float) -> None:
        """Put the knobs where they were left; nothing a person did, so nothing to take back."""
        knobs: dict[str, Any] = {"alpha": alpha, "threshold": threshold}
        kept = {name: value for name, value in knobs.items() if name not in self._turned}
        self._take(replace(self.asking, **kept))
        self._post(Asked(self.asking))

    def undo(self) -> None:
        """Take back the last change."""
        before = self._undo.back(self.asking)
        if before is None:
            self._post(Noticed("nothing to take back"))
            return
        self._post(Noticed(change_words(self.asking, before, self.shown.name_of)))
        self._take(before)
        self._post(Asked(before))

    def why(self, result: ResultRow) -> Why | None:
        """Return the reasons for a result of the newest ranking."""
        return None if self._calls.engine is None else self.shown.why(self._calls.engine, result)

    def ask_snippets(self, paths: Sequence[str]) -> None:
        """Tell the snippets of documents; each is read once per query."""
        known = {path: self.shown.snippets[path] for path in paths if path in self.shown.snippets}
        if known:
            self._post(SnippetsReady(self.asking.query, known))
        missing = [path for path in paths if path not in self.shown.snippets_asked]
        if missing and self.shown.evidence is not None:
            self.shown.snippets_asked.update(missing)
            self._thread.submit(self._fetch_snippets, self.shown.evidence, missing)

    async def complete_path(self, text: str) -> tuple[str, ...]:
        """Return paths that continue what is typed; none before there is an index."""
        return await self._thread.ask(self._completions, text)

    async def find_entities(self, text: str) -> tuple[EntityName, ...]:
        """Return entities by a part of their name; none before there is an index."""
        return await self._thread.ask(self._entity_names, text)

    async def stop(self) -> None:
        """Let go of everything; indexing is told to end and given a moment for it."""
        self._loop.closed.set()
        self._drop_retrieval()
        await self.upkeep.stop()
        self._thread.close(self._close)

    # Still on the event loop: deciding what to do, and what the threads hand over.

    def _take(self, after: Asking) -> None:
        before, self.asking = self.asking, after
        if not after.query:
            self._drop_retrieval()
            self.shown.forget()
            if after.path != before.path:
                self._thread.submit(self._count_scope, after.path)
        elif not self.shown.answers(after):
            self._retrieve_soon(self._debounce if after.query != before.query else 0.0)
        else:  # back to what is shown: whatever is under way was for something else
            self._give_up_retrieving()
            self._rank(fresh=False)

    def _retrieve_soon(self, delay: float, *, fresh: bool = True) -> None:
        self._drop_retrieval()
        self._timer = self._loop.adopt().call_later(delay, self._ask, fresh)

    def _give_up_retrieving(self) -> None:
        if self._timer is not None or (self._retrieving and self._asked != self.asking.retrieved):
            self._drop_retrieval()

    def _drop_retrieval(self) -> None:
        """Whatever is due or under way answers nothing any more."""
        self.generation += 1
        self._retrieving = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ask(self, fresh: bool) -> None:
        self._timer, self._retrieving, self._behind = None, True, False
        self._asked = self.asking.retrieved
        self._thread.submit(self._retrieve, self.generation, self.asking, fresh)
        self._loop.adopt().call_later(PATIENCE, self._say_searching, self.generation)

    def _say_searching(self, generation: int) -> None:
        waiting = self._retrieving and not self.shown.answers(self.asking)
        if generation == self.generation and self._searchable and waiting:
            self._post(Searching(generation))

    def _take_tuning(self, tuning: Tuning, configured: Configured) -> None:
        """What kbx.toml says holds, but for what was turned before it was read."""
        self.defaults = Asking(
            mode="two-pass" if tuning.hierarchy else "flat",
            alpha=tuning.alpha,
            threshold=tuning.entity_threshold,
        )
        turned = {name: getattr(self.asking, name) for name in self._turned}
        self.asking = replace(self.defaults, **turned)
        self._undo.steps.clear()  # they say what stood there before anything was known
        self._post(configured)
        self._post(Asked(self.asking))

    def _take_evidence(
        self, generation: int, asked: Asking, evidence: Evidence, fresh: bool
    ) -> None:
        if generation != self.generation:
            return
        self.shown.take(asked, evidence)
        self._rank(fresh)

    def _retrieved(self, generation: int) -> None:
        if generation == self.generation:
            self._retrieving = False
            if self._behind:
                self._retrieve_soon(0.0, fresh=False)

    def _take_snippets(self, evidence: Evidence, snippets: dict[str, SnippetView]) -> None:
        if self.shown.evidence is evidence:  # else a file may have changed since they were read
            self.shown.snippets |= snippets
            self._post(SnippetsReady(evidence.query, snippets))

    def _rank(self, fresh: bool) -> None:
        engine, tuning = self._calls.engine, self._tuning
        if engine is not None and tuning is not None:
            view = self.shown.rank(engine, tuning, self.asking)
            if view is not None:
                self._post(Ranked(self.generation, view, fresh))

    def _failed(self, error: Exception, generation: int | None = None) -> None:
        if not isinstance(error, KbxError):
            logger().error("%s", error, exc_info=error)
        self._post(Failed(reason(error), generation))

    def _grown(self, changed: frozenset[str]) -> None:
        """The index holds more: count again, and search again unless someone is typing."""
        self._searchable = True
        if changed:
            self.shown.forget_snippets(changed)
            self._post(FilesChanged(changed))
            self.reviewing.again()
            self.expertise.again()
        if self._retrieving:
            self._behind = True  # what is under way may read the index as it was
        elif self.asking.query and self._timer is None:
            self._retrieve_soon(0.0, fresh=not self.shown.answers(self.asking))
        self._thread.submit(self._count)

    # On the engine's thread.

    def _open(self) -> None:
        """Open the engine, if that has not worked yet; what else it takes follows in its turn."""
        if self._tuning is None:
            self._greet()
            self._thread.submit(self._prepare)

    def _prepare(self) -> None:
        """Load what the first search needs, index what is not, and watch the files."""
        complete = False
        try:
            if self._searchable:
                self._calls.warm()
                complete = self._count()
        finally:
            if not complete:
                self._loop.call(self.upkeep.index)
            self._loop.call(self.upkeep.watch)

    def _greet(self) -> None:
        """Tell name and knobs of the base."""
        engine = self._calls.opened()
        self._searchable = engine.is_indexed()
        settings = engine.settings
        configured = Configured(dict(settings.keys), settings.app.remember_knobs)
        tuning = self._tuning = engine.tuning()
        self._loop.call(self._take_tuning, tuning, configured)
        summary = self._calls.summary(searchable=self._searchable)
        self._loop.call(self._post, Opened(summary))

    def _close(self) -> None:
        try:
            self.reviewing.keeper.save()  # what waited in the queue is skipped by now
        finally:
            self._calls.close()

    def _count(self) -> bool:
        if not self._calls.opened().is_indexed():  # nothing yet: another process is at it
            self._searchable = False
            return False
        summary, complete = self._calls.count()
        self._loop.call(self._post, Opened(summary))
        return complete

    def _count_scope(self, path: str) -> None:
        if self._searchable and path == self.asking.path:
            self._loop.call(self._post, Scoped(self._calls.scope(path)))

    def _completions(self, text: str) -> tuple[str, ...]:
        return self._calls.complete_path(text) if self._searchable else ()

    def _entity_names(self, text: str) -> tuple[EntityName, ...]:
        return self._calls.find_entities(text) if self._searchable else ()

    def _retrieve(self, generation: int, asked: Asking, fresh: bool) -> None:
        if generation != self.generation:  # superseded while it waited for its turn
            return
        try:
            self._open()
            if self._searchable:  # else asked again as soon as the index holds text
                evidence = self._calls.retrieve(
                    asked.query, asked.path, asked.mode == "fast", sorted(asked.pinned)
                )
                self._loop.call(self._take_evidence, generation, asked, evidence, fresh)
        except Exception as error:
            self._loop.call(self._failed, error, generation)
        self._loop.call(self._retrieved, generation)

    def _fetch_snippets(self, evidence: Evidence, paths: list[str]) -> None:
        if evidence is self.shown.evidence:
            snippets = self._calls.snippets(evidence, paths)
            self._loop.call(self._take_snippets, evidence, snippets)


def reason(error: Exception) -> str:
    """Return one line for people; errors that are not ours say their type too."""
    text = visible(str(error).strip() or type(error).__name__)
    return text if isinstance(error, KbxError) else f"{type(error).__name__}: {text}"
