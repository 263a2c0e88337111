"""The thread on which servers run the engine, and two threads that keep its index up to date.

Calls never wait for those two. One waits for the system to report changed files; the other indexes
them a few at a time, text first, then vectors. They do nothing until an index exists: only a search
or `kbx index` creates one.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import EmbeddingError, IndexElsewhere, IndexLocked, KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.system import limit_heaps, release_memory
from kbx_tui.tools.dispatch import Answer, Failure, answer_call, failed_answer

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.index.index_status import IndexSummary


log = logging.getLogger(__name__)

_BUSY = Failure(
    "TRANSIENT",
    "internal_error",
    "too many calls are waiting; try again in a second",
    retry_after_seconds=1.0,
)

TIMEOUT_SECONDS = 60.0
"""Time after which a caller is asked to try again; the work continues."""
MOST_CALLS = 64
"""Maximum number of running and waiting calls; further ones are refused at once.

More than a server admits, because the calls of a client that disconnects are not cancelled.
"""
IDLE_SECONDS = 0.5
"""Seconds without a call after which the engine counts as idle."""
MAX_REQUESTS = 16


@dataclass(frozen=True, slots=True)
class McpOptions:
    """The options of an MCP server; plain values, because they are sent to workers as JSON."""

    root: str
    trust: bool = False
    allow_writes: bool = False
    reviews: bool = False
    """Whether what agents write waits for the user's review."""
    lists_all: bool = False
    warm: bool = True
    token: str | None = None
    max_requests: int = MAX_REQUESTS
    keeps_index: bool = True

    def engine(self) -> EngineWorker:
        return EngineWorker(
            self._open,
            allow_writes=self.allow_writes,
            reviews=self.reviews,
            background=self.keeps_index,
            warms=self.warm,
        )

    def _open(self) -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(Path(self.root), notice=say, trust=self.trust)


class EngineWorker:
    """A knowledge base on its own thread, which runs the calls of all clients one by one."""

    def __init__(
        self,
        open_kb: Callable[[], KnowledgeBase],
        *,
        allow_writes: bool = False,
        reviews: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        background: bool = False,
        warms: bool = False,
    ) -> None:
        """With `background`, the index is kept up to date between calls, after the first one.

        With `warms`, `begin` loads what the first search needs. The base is not opened before. With
        `reviews`, writes are only proposed.
        """
        limit_heaps()
        self.reviews = reviews
        self._open_kb, self.allow_writes, self.timeout = open_kb, allow_writes, timeout
        self._kb: KnowledgeBase | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kbx-tools")
        self._calls, self._last_call, self._counting = 0, time.monotonic(), threading.Lock()
        self._keeper = IndexKeeper(open_kb, self.is_idle, self._warm) if background else None
        self._warms = warms

    def begin(self) -> None:
        """Load in advance, if enabled, what the first call of a connected client needs."""
        if self._warms:
            self._warms = False
            self._warm()

    def is_idle(self) -> bool:
        return not self._calls and time.monotonic() - self._last_call > IDLE_SECONDS

    def submit(self, name: str, params: Mapping[str, Any], client: str = "") -> Future[Answer]:
        """Start a call; `client` is the name of the program that makes it."""
        if self._calls >= MOST_CALLS:
            busy: Future[Answer] = Future()
            busy.set_result(failed_answer(name, _BUSY))
            return busy
        return self._counted(
            lambda: answer_call(
                self._opened,
                name,
                params,
                allow_writes=self.allow_writes,
                proposer=client if self.reviews else None,
            )
        )

    def run(self, action: Callable[[KnowledgeBase], Any]) -> Future[Any]:
        """Start other work on the knowledge base; fails with TimeoutError if too much waits."""
        if self._calls >= MOST_CALLS:
            busy: Future[Any] = Future()
            busy.set_exception(TimeoutError())
            return busy
        return self._counted(lambda: action(self._opened()))

    def waiting(self) -> int:
        return max(self._calls - 1, 0)

    def summary(self) -> Future[IndexSummary | None]:
        """Start summarizing the newest index, not counted as a call; None if no base is open."""
        return self._thread.submit(
            lambda: None if self._kb is None else self._kb.public.index_summary()
        )

    def answer(self, name: str, params: Mapping[str, Any]) -> Answer:
        try:
            return self.submit(name, params).result(self.timeout)
        except FutureTimeout:
            return self.timeout_answer(name)

    def timeout_answer(self, name: str) -> Answer:
        message = f"no answer within {self.timeout:g} seconds; still working on it, try again"
        return failed_answer(name, Failure("TRANSIENT", "internal_error", message))

    def close(self) -> None:
        if self._keeper is not None:
            self._keeper.stop()
        self._thread.submit(lambda: None if self._kb is None else self._kb.close())
        self._thread.shutdown(wait=True, cancel_futures=False)

    def _counted(self, work: Callable[[], Any]) -> Future[Any]:
        with self._counting:
            self._calls += 1
        future = self._thread.submit(work)
        future.add_done_callback(self._call_ended)
        return future

    def _call_ended(self, future: Future[Any]) -> None:
        with self._counting:
            self._calls, self._last_call = self._calls - 1, time.monotonic()
        if self._keeper is not None and self._kb is not None:  # the base was trusted and opened
            self._keeper.start()

    def _warm(self) -> None:
        """Load the newest index in two steps, so that a call waits for at most one of them."""
        with suppress(RuntimeError):  # the worker was closed meanwhile
            loading = self._thread.submit(self._quietly, lambda kb: kb.refresh())
            loading.add_done_callback(self._warm_rest)

    def _warm_rest(self, loading: Future[Any]) -> None:
        with suppress(RuntimeError):  # the worker was closed meanwhile
            self._thread.submit(self._quietly, lambda kb: kb.warm())
            self._thread.submit(release_memory)  # of the index before
        if self._keeper is not None and self._kb is not None:
            self._keeper.start()

    def _quietly(self, action: Callable[[KnowledgeBase], Any]) -> None:
        """Do in advance what a call will need; errors are logged here and reported by that call."""
        try:
            from kbx_tui.tools import handlers, public_answers  # noqa: F401 - loads the engine

            if (public := self._opened().public).is_indexed():
                action(public)
        except KbxError as error:
            log.info("not loaded in advance: %s", error)

    def _opened(self) -> KnowledgeBase:
        if self._kb is None:
            self._kb = self._open_kb()
        return self._kb


def say(text: str) -> None:
    with suppress(OSError):
        print(f"kbx: {safe_line(text)}", file=sys.stderr, flush=True)


STEP_SECONDS = 0.3
"""Seconds between checks for running calls while there is work."""
FIRST_LOOKS = 2
"""Checks for calls that embedding skips: one batch of chunks and one step of texts always finish.

Otherwise a server that is called constantly would make no progress.
"""
RETRY_SECONDS = 60.0
JOIN_SECONDS = 1.0
"""Longest wait for the threads to stop; they end with the process in any case."""


class IndexKeeper:
    """Indexes files that change, and texts without vectors, whenever `is_idle` returns True."""

    def __init__(
        self,
        open_kb: Callable[[], KnowledgeBase],
        is_idle: Callable[[], bool],
        updated: Callable[[], object],
    ) -> None:
        """`updated` is called after the index has changed, on a thread of this object."""
        self._open_kb, self._is_idle, self._updated = open_kb, is_idle, updated
        self._stopped, self._wake = threading.Event(), threading.Event()
        self._changed: set[str] = set()
        self._changing = threading.Lock()
        self._compare_all = self._embed = True  # files may have changed while nobody watched
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        if not self._threads and not self._stopped.is_set():
            self._threads = [
                threading.Thread(target=target, name=name, daemon=True)
                for target, name in ((self._keep, "kbx-keep"), (self._watch, "kbx-watch"))
            ]
            for thread in self._threads:
                thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._wake.set()
        deadline = time.monotonic() + JOIN_SECONDS
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def _watch(self) -> None:
        try:
            with closing(self._open_kb()) as kb:
                if kb.settings.app.watch:
                    kb.watch(self._note, stopped=self._stopped)
        except Exception as error:
            log.warning("changes on disk are not noticed: %s", error)

    def _note(self, paths: frozenset[str]) -> None:
        with self._changing:
            self._changed |= paths
        self._wake.set()

    def _keep(self) -> None:
        try:
            with closing(self._open_kb()) as kb:
                wait = STEP_SECONDS
                while not self._stopped.is_set():
                    self._wake.wait(None if wait < 0.0 else wait)
                    self._wake.clear()
                    if not self._stopped.wait(STEP_SECONDS):
                        wait = self._next(kb) if self._is_idle() else STEP_SECONDS
        except Exception as error:
            log.warning("the index is not kept up to date: %s", error)

    def _next(self, kb: KnowledgeBase) -> float:
        """Do the next piece of work; return the seconds to wait, or -1 to wait for a change."""
        try:
            if not kb.is_indexed():
                return RETRY_SECONDS
            if self._index(kb) or self._add_vectors(kb):
                self._updated()
            return STEP_SECONDS if self._embed else -1.0
        except IndexElsewhere:
            return RETRY_SECONDS  # readers fetch newer versions themselves
        except IndexLocked:
            return STEP_SECONDS * 10  # another process does the work
        except EmbeddingError as error:
            log.warning("vectors are not made up: %s", error)
            return float(getattr(error, "retry_after_seconds", RETRY_SECONDS))
        except KbxError as error:
            log.warning("the index is not kept up to date: %s", error)
            return RETRY_SECONDS

    def _index(self, kb: KnowledgeBase) -> bool:
        with self._changing:
            changed, self._changed = self._changed, set()
        everything = self._compare_all or not all(path.lower().endswith(".md") for path in changed)
        try:
            if everything:
                kb.reread_settings()  # kbx.toml may have changed
            if everything and (changed or kb.count_newer_files() or kb.entities_outdated()):
                kb.index(fast=True, wait=False, cancelled=self._stopped.is_set)
            elif changed:
                kb.index(fast=True, wait=False, only=changed)
            else:
                self._compare_all = False
                return False
        except KbxError:
            self._note(frozenset(changed))
            raise
        self._compare_all, self._embed = False, True
        return True

    def _add_vectors(self, kb: KnowledgeBase) -> bool:
        """Embed texts until a call begins, but always a few; return whether any were embedded."""
        if not self._embed:
            return False
        interrupted, looks = False, 0

        def cancelled() -> bool:
            nonlocal interrupted, looks
            looks += 1
            is_wanted = looks > FIRST_LOOKS and (bool(self._changed) or not self._is_idle())
            interrupted = self._stopped.is_set() or is_wanted
            return interrupted

        embedded = kb.add_vectors(cancelled=cancelled)
        self._embed = interrupted
        return embedded > 0
