"""Keeps the index up to date: one run of indexing at a time, and a watcher of the files."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from kbx_tui.errors import IndexElsewhere, IndexLocked, KbxError
from kbx_tui.formatting import format_count, format_duration, format_percent
from kbx_tui.tui.engine.client import EngineClient, OpenEngine, Status
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.index.build.progress import Progress
    from kbx_tui.index.index_status import IndexQuestion


RunState = Literal["idle", "counting", "asking", "running", "paused", "stopped", "locked", "failed"]
"""`counting` compares files before a run; `asking` waits for the user to confirm it; `locked`
waits for another process; `stopped` lasts until the user goes on."""
STAGES = {
    "reading": "reading",
    "entities": "entities",
    "text index": "words",
    "chunks": "splitting",
    "vectors": "meaning",
}
"""The stages of a run, in order, by what the app calls them: `chunks` counts documents."""


@dataclass(frozen=True, slots=True)
class IndexRun:
    state: RunState = "idle"
    now: Progress | None = None
    """The newest figures, of the current stage; None before the first stage."""

    @property
    def is_active(self) -> bool:
        return self.state in ("counting", "running", "paused")

    @property
    def stages_left(self) -> list[str]:
        """The stages that are not over, in order: the current one and those after it."""
        names = [] if self.state == "idle" else list(STAGES)
        return names[names.index(self.now.stage) :] if names and self.now else names

    @property
    def short_words(self) -> str:
        if self.state in ("asking", "paused", "stopped", "failed"):
            return self.state
        now = self.now if self.is_active else None
        return format_percent(now.done / now.total) if now and now.total > 1 else ""

    def in_state(self, state: RunState) -> IndexRun:
        return IndexRun(state, None if state == "counting" else self.now)

    def with_progress(self, progress: Progress) -> IndexRun:
        return IndexRun("paused" if self.state == "paused" else "running", progress)


REPORT_INTERVAL = 0.1
GROWTH_INTERVAL = 2.0
LOCK_RETRY_SECONDS = 2.0
"""Seconds until the app tries again while another run holds the lock of the index."""
PAUSE_STEP = 0.1
STOP_SECONDS = 1.0
"""Seconds the screen stays while indexing stops, which may be interrupted at any moment."""
LOOK_INTERVAL = 3.0
"""Seconds between two looks at whether the index has new content."""
NOT_INDEXED = "this knowledge base has no index yet: `kbx index` makes it"


class IndexSync:
    """One run of indexing at a time, and a watcher of the files.

    Both run on threads with engines of their own, so that searches are answered meanwhile.
    """

    def __init__(
        self,
        client: EngineClient,
        open_engine: OpenEngine,
        status: Status,
        *,
        on_growth: Callable[[frozenset[str]], object],
        on_question: Callable[[IndexQuestion], None],
    ) -> None:
        """`on_growth` is called when the index has new content, with the files that changed.

        `on_question` is called before a run that the user is to confirm; `answer` follows.
        """
        self._client, self._open_engine, self._status = client, open_engine, status
        self._on_growth, self._on_question = on_growth, on_question
        self.on_run: Callable[[], object] = lambda: None
        self.run = IndexRun()
        self._confirmed = self._asked = False
        self._stopped, self._resumed = threading.Event(), threading.Event()
        self._resumed.set()
        self._indexing: asyncio.Task[object] | None = None
        self._watching: threading.Event | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._index_again = False
        self._changed: frozenset[str] = frozenset()
        self._maybe_changed: frozenset[str] = frozenset()
        self._own_writes: set[str] = set()

    @property
    def is_indexing(self) -> bool:
        return self._indexing is not None and not self._indexing.done()

    def index(self, maybe_changed: Iterable[str] = (), *, by_user: bool = False) -> None:
        """Bring the index up to date; during a run, index again afterwards.

        `maybe_changed` are files that may have changed without the watcher having noticed. After
        the user has stopped a run, or declined one, only `by_user` begins the next.
        """
        self._maybe_changed |= frozenset(maybe_changed)
        if by_user:
            self._stopped.clear()
            self.resume()
        if self._stopped.is_set() or self._asked:
            return
        if self.is_indexing:
            self._index_again = True
        else:
            self._indexing = self._client.start(self._index())

    def pause(self) -> None:
        """Pause the run at its next step, with its work so far; it stays the only writer."""
        if self.is_indexing and self.run.is_active:
            self._resumed.clear()
            self._show_run(self.run.in_state("paused"))

    def resume(self) -> None:
        if not self._resumed.is_set():
            self._resumed.set()
            self._show_run(self.run.in_state("running"))

    def halt(self) -> None:
        """End the run at its next step; what is indexed stays. Only the user can start another."""
        self._stopped.set()
        self._resumed.set()
        self._index_again = False
        if not self.is_indexing:
            self._show_run(self.run.in_state("stopped"))

    def hold(self) -> None:
        """Begin no run before `release`: the user is asked about the index that is there."""
        self._asked = True

    def release(self) -> None:
        if self._asked:
            self._asked = False
            self.index()

    def answer(self, *, confirmed: bool) -> None:
        self._asked, self._confirmed = False, confirmed
        if confirmed:
            self.index(by_user=True)
        else:
            self.halt()

    def expect(self, paths: Iterable[str]) -> None:
        self._own_writes.update(paths)

    @property
    def is_watching(self) -> bool:
        """Whether files are indexed as soon as they change on disk."""
        return self._watching is not None

    @property
    def watching_words(self) -> str:
        if self.is_watching:
            return "watching: changed files are indexed at once"
        return "not watching: files are indexed when you say so"

    def watch(self, *, by_user: bool = False) -> None:
        """Index whatever changes on disk from now on, if kbx.toml says so or the user does."""
        if self._watching is None:
            self._watching = threading.Event()
            self._client.start(self._watch(self._watching, by_user=by_user))
            if by_user:
                self.index(by_user=True)  # files may have changed meanwhile

    def stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.set()
            self._watching = None

    async def stop(self) -> None:
        self.stop_watching()
        if self._indexing is not None:
            await asyncio.wait({self._indexing}, timeout=STOP_SECONDS)

    # Indexing.

    async def _index(self) -> None:
        self._index_again = True
        while self._index_again and not self._client.closed.is_set():
            self._index_again = False
            self._show_run(self.run.in_state("counting"))
            try:
                await run_in_thread(self._index_in_thread, "kbx-index")
            except IndexElsewhere as error:
                self._status.show_progress("")
                self._status.show_notice(str(error))
                self._show_run(self.run.in_state("idle"))
            except IndexLocked:  # another process, or a write of this one, does the work
                self._status.show_progress("indexing waits for another write of the index")
                self._show_run(self.run.in_state("locked"))
                if self._retry is not None:
                    self._retry.cancel()
                loop = asyncio.get_running_loop()
                self._retry = loop.call_later(LOCK_RETRY_SECONDS, self.index)
                self._on_growth(frozenset())
            except Exception as error:
                self._status.show_progress("")
                self._show_run(self.run.in_state("failed"))
                self._client.report(error)
            else:
                if self._client.closed.is_set():  # cancelled, so perhaps nothing was indexed
                    return
                self._status.show_progress("")
                if self._asked:
                    return
                is_halted = self._stopped.is_set()
                self._show_run(self.run.in_state("stopped" if is_halted else "idle"))
                self._confirmed = False
                self._on_growth(frozenset() if self._index_again else self._take_changes())

    def _take_changes(self) -> frozenset[str]:
        """Announce how many files changed; return these and those that may have changed."""
        changed, maybe_changed = self._changed, self._maybe_changed
        self._changed = self._maybe_changed = frozenset()
        if count := len(changed - self._own_writes):
            self._status.show_notice(
                f"{format_count(count, 'change')} on disk indexed", yields=True
            )
        self._own_writes -= changed
        return changed | maybe_changed

    def _index_in_thread(self) -> None:
        stage, reported, grown = "", 0.0, 0.0

        def listen(progress: Progress) -> None:
            nonlocal stage, reported, grown
            now = time.monotonic()
            if progress.stage != stage or now - reported >= REPORT_INTERVAL:
                stage, reported = progress.stage, now
                self._client.call_on_loop(self._show_progress, progress)
            if progress.searchable and now - grown >= GROWTH_INTERVAL:
                grown = now
                self._client.call_on_loop(self._on_growth, frozenset())
            while not (self._resumed.wait(PAUSE_STEP) or self._client.closed.is_set()):
                pass  # paused by the user

        def is_cancelled() -> bool:
            return self._client.closed.is_set() or self._stopped.is_set()

        with closing(self._open_engine()) as engine:
            if not self._confirmed and (question := engine.index_question()) is not None:
                self._asked = True
                self._client.call_on_loop(self._ask, question)
                return
            report = engine.index(listen, cancelled=is_cancelled, wait=False)
        for sentence in report.repaired:
            self._client.call_on_loop(partial(self._status.show_notice, sentence, yields=True))

    def _ask(self, question: IndexQuestion) -> None:
        self._show_run(self.run.in_state("asking"))
        self._on_question(question)

    def _show_progress(self, progress: Progress) -> None:
        if not self.is_indexing or self._stopped.is_set():
            return  # it was on its way when the run ended
        self._status.show_progress(describe_progress(progress))
        self._show_run(self.run.with_progress(progress))

    def _show_run(self, run: IndexRun) -> None:
        self.run = run
        self.on_run()

    # Watching.

    async def _watch(self, stopped: threading.Event, *, by_user: bool) -> None:
        def take(paths: frozenset[str]) -> None:
            self._client.call_on_loop(self._files_changed, paths)

        def watch() -> None:
            with closing(self._open_engine()) as engine:
                if by_user or engine.settings.app.watch:
                    engine.watch(take, stopped=stopped)

        try:
            # A daemon thread: it only waits, and may do so a moment longer than the app runs.
            await run_in_thread(watch, "kbx-watch", daemon=True)
        except Exception as error:
            logger().warning("changes on disk are not noticed: %s", error)
            cause = str(error) if isinstance(error, KbxError) else type(error).__name__
            self._status.show_notice(f"changes on disk are not noticed ({cause}); R indexes them")
        if self._watching is stopped:
            self._watching = None
            self.on_run()

    def _files_changed(self, paths: frozenset[str]) -> None:
        self._changed |= paths
        if count := len(self._changed - self._own_writes):
            self._status.show_progress(f"{format_count(count, 'file')} changed on disk, indexing")
        self.index()


def describe_progress(progress: Progress) -> str:
    """Return the progress of indexing: `indexing: meaning 312 of 1,204, 26 s left`."""
    stage = STAGES.get(progress.stage, progress.stage)
    words = f"indexing: {stage} {progress.done:,} of {progress.total:,}"
    if progress.seconds_left is not None and progress.seconds_left >= 1.0:
        words += f", {format_duration(progress.seconds_left)} left"
    return words


async def run_in_thread(work: Callable[[], None], name: str, *, daemon: bool = False) -> None:
    """Run `work` on its own thread; a daemon that runs a model at exit would abort the process."""
    result: Future[None] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            work()
        except Exception as error:
            result.set_exception(error)
        else:
            result.set_result(None)

    threading.Thread(target=run, name=name, daemon=daemon).start()
    await asyncio.wrap_future(result)


class IndexFollower(IndexSync):
    """Indexes nothing: the base is open for reading only."""

    _following: asyncio.Task[object] | None = None
    _paths: Sequence[str] | None = None
    """The documents of the newest index: another object after each change of it."""

    def index(self, maybe_changed: Iterable[str] = (), *, by_user: bool = False) -> None:
        async def check() -> None:
            if not await self._client.look(lambda engine: engine.is_indexed()):
                self._status.show_error(NOT_INDEXED)

        self._client.start(check())

    @property
    def is_watching(self) -> bool:
        return self._following is not None

    @property
    def watching_words(self) -> str:
        return "read-only: what others index appears within seconds"

    def watch(self, *, by_user: bool = False) -> None:
        if self._following is None:
            self._following = self._client.start(self._follow())

    def stop_watching(self) -> None:
        if self._following is not None:
            self._following.cancel()
            self._following = None

    async def _follow(self) -> None:
        while True:
            try:
                if await self._client.look(self._has_news):
                    self._on_growth(frozenset())
            except Exception as error:  # perhaps the index is just being replaced
                logger().warning("changes of the index are not noticed: %s", error)
            await asyncio.sleep(LOOK_INTERVAL)

    def _has_news(self, engine: KnowledgeBase) -> bool:
        """Return whether the index has changed, also if a search has read it already."""
        if not engine.is_indexed():
            self._paths = ()
            return False
        is_newer, before = engine.refresh(), self._paths
        self._paths = engine.documents.paths()
        return is_newer or (before is not None and self._paths is not before)
