"""The threads beside the event loop: engine calls in turn, indexing, watching files."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress

T = TypeVar("T")

REPORTS = 0.1
"""Seconds between two reports of progress."""
GROWTH = 2.0
"""Seconds between two looks at what indexing has added."""
FAREWELL = 1.0
"""Seconds the screen stays while indexing notices that it is over; the process waits for it."""


class Loop:
    """Calls back on the event loop, from any thread, as long as there is one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = threading.Event()

    def adopt(self) -> asyncio.AbstractEventLoop:
        """Take the running loop as the one to call back on."""
        self._loop = asyncio.get_running_loop()
        return self._loop

    def call(self, callback: Callable[..., object], *args: object) -> None:
        """Call `callback` on the loop; after closing, do nothing."""
        if self._loop is None or self.closed.is_set():
            return
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:  # the loop is gone, and with it whoever waited
            self.closed.set()


class EngineThread:
    """One thread for all engine calls: they run in turn, and what they raise is reported."""

    def __init__(self, loop: Loop, failed: Callable[[Exception], None]) -> None:
        self._loop, self._failed = loop, failed
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kbx-engine")

    def submit(self, task: Callable[..., object], *args: object) -> None:
        """Run `task` when its turn comes; `failed` hears on the loop what it raises."""
        if not self._loop.closed.is_set():
            self._pool.submit(self._run, task, *args)

    async def ask(self, task: Callable[..., T], *args: object) -> T:
        """Run `task` when its turn comes and return what it returns, or raise what it raises."""
        return await asyncio.wrap_future(self._pool.submit(task, *args))

    def close(self, last: Callable[[], None]) -> None:
        """Skip what waits, run `last`, and end; waits for nothing."""
        self._pool.submit(last)
        self._pool.shutdown(wait=False)

    def _run(self, task: Callable[..., object], *args: object) -> None:
        if self._loop.closed.is_set():
            return
        try:
            task(*args)
        except Exception as error:
            self._loop.call(self._failed, error)


class IndexThread:
    """Indexing, off the engine's thread: searches go on meanwhile."""

    def __init__(
        self,
        loop: Loop,
        run: Callable[[Callable[[Progress], None], Callable[[], bool]], None],
        *,
        report: Callable[[Progress], None],
        grown: Callable[[], None],
        ended: Callable[[Exception | None], None],
    ) -> None:
        """Call `run` with a listener and a question whether to stop; the others hear on the loop.

        `report` hears how far it is, `grown` that there is more to be found, `ended` what `run`
        raised or None.
        """
        self._loop, self._run = loop, run
        self._report, self._grown, self._ended = report, grown, ended
        self._stage, self._reported, self._looked = "", 0.0, 0.0
        # No daemon: a model that still runs while the interpreter ends aborts the process.
        self._thread = threading.Thread(target=self._work, name="kbx-index")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    async def join(self) -> None:
        """Wait a moment for the thread to notice that the loop is closed."""
        await asyncio.to_thread(self._thread.join, FAREWELL)

    def _work(self) -> None:
        raised: Exception | None = None
        try:
            self._run(self._hear, self._loop.closed.is_set)
        except Exception as error:
            raised = error
        self._loop.call(self._ended, raised)

    def _hear(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage != self._stage or now - self._reported >= REPORTS:
            self._stage, self._reported = progress.stage, now
            self._loop.call(self._report, progress)
        if progress.searchable and now - self._looked >= GROWTH:
            self._looked = now
            self._loop.call(self._grown)


class WatchThread:
    """Waiting for files to change."""

    def __init__(
        self,
        loop: Loop,
        run: Callable[[Callable[[frozenset[str]], None], threading.Event], None],
        *,
        changed: Callable[[frozenset[str]], None],
        ended: Callable[[Exception | None], None],
    ) -> None:
        """Call `run` with a listener and the event that ends it; the others hear on the loop."""
        self._loop, self._run = loop, run
        self._changed, self._ended = changed, ended
        # A daemon: it only waits, and may wait for part of a second after the app is gone.
        self._thread = threading.Thread(target=self._work, name="kbx-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _work(self) -> None:
        raised: Exception | None = None
        try:
            self._run(lambda paths: self._loop.call(self._changed, paths), self._loop.closed)
        except Exception as error:
            raised = error
        self._loop.call(self._ended, raised)
