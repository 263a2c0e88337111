"""What stands between screen and engine. It posts messages and touches no widget.

Everything that does I/O (`engine_calls`) runs on one thread, one call after the other. Ranking is
pure and takes milliseconds, so knobs rank on the event loop and never retrieve. Indexing has a
thread and an engine of its own. No other module of the app calls the engine.

Each query gets the next generation. An answer of another generation than the newest is dropped,
so a slow answer never replaces a newer one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from kbx_tui.errors import IndexLocked, KbxError
from kbx_tui.plain_text import visible
from kbx_tui.tui.engine import OpenEngine
from kbx_tui.tui.engine_calls import EngineCalls
from kbx_tui.tui.messages import (
    Failed,
    Indexing,
    Opened,
    PreviewReady,
    Ranked,
    Searching,
    SnippetsReady,
    Tuned,
)
from kbx_tui.tui.threads import EngineThread, IndexThread, Loop
from kbx_tui.tui.view import Knobs, Preview, SnippetView, Why
from kbx_tui.tui.wording import progress_words

if TYPE_CHECKING:
    from kbx_tui.index.progress import Progress
    from kbx_tui.search.evidence import Evidence
    from kbx_tui.search.ranking import Ranking
    from kbx_tui.search.tuning import Tuning

DEBOUNCE = 0.08
"""Seconds without a key before a query is searched."""
LOCKED_PATIENCE = 2.0
"""Seconds until the app looks again whether another process has finished indexing."""
PATIENCE = 0.15
"""Seconds after which a search is said to be under way."""


class Controller:
    """Turns what a person does into engine calls, and their results into messages."""

    def __init__(
        self, open_engine: OpenEngine, post: Callable[[Message], object], debounce: float = DEBOUNCE
    ) -> None:
        self.generation = 0
        """Of the newest query."""
        self.query = ""
        self.ranking: Ranking | None = None
        self._calls = EngineCalls(open_engine)
        self._post, self._debounce = post, debounce
        self._loop = Loop()
        self._thread = EngineThread(self._loop, self._failed)
        self._indexing: IndexThread | None = None
        self._searchable = False
        self._evidence: Evidence | None = None
        self._tuning: Tuning | None = None
        self._changes: dict[str, Any] = {}
        self._snippets: dict[str, SnippetView] = {}
        self._asked: set[str] = set()
        self._preview_wanted = ""
        self._note: tuple[object, str] = (None, "")
        self._timer: asyncio.TimerHandle | None = None

    # What the screen asks for, on the event loop.

    def start(self) -> None:
        """Open the knowledge base; call after the first paint."""
        self._loop.adopt()
        self._thread.submit(self._open)

    def search(self, query: str) -> None:
        """Search for `query` once no further key has come for a moment."""
        self.generation += 1
        self.query = query.strip()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self.query:
            self._evidence = self.ranking = None
            return
        self._timer = self._loop.adopt().call_later(self._debounce, self._ask, True)

    def retune(self, **changes: Any) -> None:
        """Rank what was retrieved under other knobs; never retrieves."""
        self._changes |= changes
        if self._tuning is not None:
            self._tuning = replace(self._tuning, **changes)
        if self._evidence is not None:
            self._rank(fresh=False)

    @property
    def knobs(self) -> Knobs:
        """The knobs as they stand."""
        if self._tuning is None:
            return Knobs(**self._changes)
        tuning = self._tuning
        return Knobs(tuning.alpha, tuning.entity_threshold, tuning.hierarchy)

    def why(self, row: int) -> Why | None:
        """Return the reasons for one row of the newest ranking."""
        ranking, engine = self.ranking, self._calls.engine
        if ranking is None or engine is None or row >= len(ranking.evidence):
            return None
        from kbx_tui.tui import arithmetic

        return arithmetic.why(ranking, engine.explain(ranking, ranking.ranked(row, rank=0)))

    def snippet(self, path: str) -> SnippetView | None:
        """Return the snippet of a document when it is known already."""
        return self._snippets.get(path)

    def ask_snippets(self, paths: Sequence[str]) -> None:
        """Fetch the snippets of documents, each once per query."""
        missing = [path for path in paths if path not in self._asked]
        if missing and self._evidence is not None:
            self._asked.update(missing)
            self._thread.submit(self._fetch_snippets, self._evidence, missing)

    def preview(self, path: str) -> None:
        """Read a document, and find the best place in it when there is a query."""
        self._preview_wanted = path
        self._thread.submit(self._read, path, self._evidence)

    async def stop(self) -> None:
        """Let go of everything; indexing is told to end and given a moment for it."""
        self._loop.closed.set()
        self.generation += 1
        if self._timer is not None:
            self._timer.cancel()
        if self._indexing is not None:
            await self._indexing.join()
        self._thread.close(self._calls.close)

    # Still on the event loop: what the threads hand over.

    def _ask(self, fresh: bool) -> None:
        self._timer = None
        self._thread.submit(self._retrieve, self.generation, self.query, fresh)
        self._loop.adopt().call_later(PATIENCE, self._say_searching, self.generation)

    def _say_searching(self, generation: int) -> None:
        answered = self._evidence is not None and self._evidence.query == self.query
        if generation == self.generation and self._searchable and not answered:
            self._post(Searching(generation))

    def _take_tuning(self, tuning: Tuning) -> None:
        self._tuning = replace(tuning, **self._changes)
        self._post(Tuned(self.knobs))

    def _take_evidence(self, generation: int, evidence: Evidence, fresh: bool) -> None:
        if generation != self.generation:
            return
        if self._evidence is None or self._evidence.query != evidence.query:
            self._snippets, self._asked = {}, set()
        self._evidence = evidence
        self._rank(fresh)

    def _take_snippets(self, query: str, snippets: dict[str, SnippetView]) -> None:
        if self._evidence is not None and self._evidence.query == query:
            self._snippets |= snippets
            self._post(SnippetsReady(query, snippets))

    def _take_preview(self, preview: Preview, path: str) -> None:
        if path == self._preview_wanted:
            self._post(PreviewReady(preview))

    def _rank(self, fresh: bool) -> None:
        from kbx_tui.tui import presenting

        engine, evidence, tuning = self._calls.engine, self._evidence, self._tuning
        if engine is None or evidence is None or tuning is None:
            return
        self.ranking = engine.rank(evidence, tuning)
        key = (id(evidence), replace(tuning, alpha=0.0))
        if self._note[0] != key:  # true of all alphas or of none
            self._note = (key, engine.alpha_note(self.ranking, presenting.LIMIT))
        view = presenting.present(self.ranking, self._note[1])
        self._post(Ranked(self.generation, view, fresh))

    def _failed(self, error: Exception, generation: int | None = None) -> None:
        self._post(Failed(reason(error), generation))

    def _index(self) -> None:
        if self._indexing is None:
            self._indexing = IndexThread(
                self._loop,
                self._calls.index,
                report=self._report,
                grown=self._grown,
                ended=self._indexed,
            )
            self._indexing.start()

    def _report(self, progress: Progress) -> None:
        self._post(Indexing(progress_words(progress)))

    def _grown(self) -> None:
        """The index holds more: count again, and search again unless someone is typing."""
        self._searchable = True
        if self.query and self._timer is None:
            self.generation += 1
            shown = self._evidence is not None and self._evidence.query == self.query
            self._ask(fresh=not shown)
        self._thread.submit(self._count)

    def _indexed(self, raised: Exception | None) -> None:
        self._indexing = None
        self._post(Indexing(""))
        if raised is None:
            self._grown()
        elif isinstance(raised, IndexLocked):  # another process does the work: look again
            self._post(Indexing("another process is indexing"))
            self._loop.adopt().call_later(LOCKED_PATIENCE, self._index)
            self._thread.submit(self._look_again)
        else:
            self._failed(raised)

    # On the engine's thread.

    def _open(self) -> None:
        self._greet()
        complete = False
        if self._searchable:
            self._calls.opened().warm()
            complete = self._count()
        if not complete:
            self._loop.call(self._index)

    def _look_again(self) -> None:
        if self._calls.opened().is_indexed():
            self._loop.call(self._grown)

    def _greet(self) -> None:
        """Open the engine, if that has not worked yet, and tell its name and knobs."""
        if self._calls.engine is None:
            engine = self._calls.opened()
            self._searchable = engine.is_indexed()
            self._loop.call(self._take_tuning, engine.tuning())
            summary = self._calls.summary(searchable=self._searchable)
            self._loop.call(self._post, Opened(summary))

    def _count(self) -> bool:
        summary, complete = self._calls.count()
        self._loop.call(self._post, Opened(summary))
        return complete

    def _retrieve(self, generation: int, query: str, fresh: bool) -> None:
        if generation != self.generation:  # superseded while it waited for its turn
            return
        try:
            self._greet()
            if self._searchable:  # else asked again as soon as the index holds text
                evidence = self._calls.retrieve(query)
                self._loop.call(self._take_evidence, generation, evidence, fresh)
        except Exception as error:
            self._loop.call(self._failed, error, generation)

    def _fetch_snippets(self, evidence: Evidence, paths: list[str]) -> None:
        if evidence is self._evidence:
            snippets = self._calls.snippets(evidence, paths)
            self._loop.call(self._take_snippets, evidence.query, snippets)

    def _read(self, path: str, evidence: Evidence | None) -> None:
        if path == self._preview_wanted:
            preview = self._calls.preview(path, evidence)
            self._loop.call(self._take_preview, preview, path)


def reason(error: Exception) -> str:
    """Return one line for people; errors that are not ours say their type too."""
    text = visible(str(error).strip() or type(error).__name__)
    return text if isinstance(error, KbxError) else f"{type(error).__name__}: {text}"
