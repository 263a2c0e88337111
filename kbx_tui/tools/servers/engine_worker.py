"""The thread on which servers run the engine."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import KbxError
from kbx_tui.tools.contracts.failures import Failure
from kbx_tui.tools.servers.dispatch import Answer, answer_call, failed_answer
from kbx_tui.tools.servers.index_keeper import IndexKeeper

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
"""After this a caller is asked to try again; the work continues."""
MOST_CALLS = 64
"""Calls at a time, those that wait included; further ones are refused at once.

More than a server lets through: clients that leave do not take back what they asked for.
"""
IDLE_SECONDS = 0.5
"""Seconds without a call after which there is time for other work."""


class EngineWorker:
    """A knowledge base on its own thread, opened by the first call that needs it.

    Calls of any number of clients run one after the other.
    """

    def __init__(
        self,
        open_kb: Callable[[], KnowledgeBase],
        *,
        allow_writes: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        background: bool = False,
        warms: bool = False,
    ) -> None:
        """Prepare without opening anything.

        With `background`, the index is kept up to date between calls, from the first one on; with
        `warms`, `begin` loads what a first search needs.
        """
        self._open_kb, self.allow_writes, self.timeout = open_kb, allow_writes, timeout
        self._kb: KnowledgeBase | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kbx-tools")
        self._calls, self._last_call, self._counting = 0, time.monotonic(), threading.Lock()
        self._keeper = IndexKeeper(open_kb, self.is_idle, self._warm) if background else None
        self._warms = warms

    def begin(self) -> None:
        """Use the time before the first call of a client that has connected."""
        if self._warms:
            self._warms = False
            self._warm()

    def is_idle(self) -> bool:
        """Return whether no call is running or was running just now."""
        return not self._calls and time.monotonic() - self._last_call > IDLE_SECONDS

    def submit(self, name: str, params: Mapping[str, Any]) -> Future[Answer]:
        """Start a call and return a future of its answer, which may be a failure."""
        if self._calls >= MOST_CALLS:
            busy: Future[Answer] = Future()
            busy.set_result(failed_answer(name, _BUSY))
            return busy
        return self._counted(
            lambda: answer_call(self._opened, name, params, allow_writes=self.allow_writes)
        )

    def run(self, action: Callable[[KnowledgeBase], Any]) -> Future[Any]:
        """Start any other work on the knowledge base; a TimeoutError if too much is waiting."""
        if self._calls >= MOST_CALLS:
            busy: Future[Any] = Future()
            busy.set_exception(TimeoutError())
            return busy
        return self._counted(lambda: action(self._opened()))

    def waiting(self) -> int:
        """Return how many calls wait for the one that is running."""
        return max(self._calls - 1, 0)

    def summary(self) -> Future[IndexSummary | None]:
        """Start reading the newest index; return a future of what it holds, None if none is open.

        Does not count as a call, and opens no knowledge base.
        """
        return self._thread.submit(lambda: None if self._kb is None else self._kb.index_summary())

    def answer(self, name: str, params: Mapping[str, Any]) -> Answer:
        """Call a method and wait for its answer, for at most `timeout` seconds."""
        try:
            return self.submit(name, params).result(self.timeout)
        except FutureTimeout:
            return self.timeout_answer(name)

    def timeout_answer(self, name: str) -> Answer:
        """Return the answer to a call that takes too long."""
        message = f"no answer within {self.timeout:g} seconds; still working on it, try again"
        return failed_answer(name, Failure("TRANSIENT", "internal_error", message))

    def close(self) -> None:
        """Close the knowledge base after the calls that were started."""
        if self._keeper is not None:
            self._keeper.stop()
        self._thread.submit(self._close)
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
        if self._keeper is not None and self._kb is not None:  # a base that opens, once trusted
            self._keeper.start()

    def _warm(self) -> None:
        """Load the newest index in two steps: a call during the first one waits for that alone."""
        with suppress(RuntimeError):  # closed meanwhile
            self._thread.submit(self._quietly, _refresh).add_done_callback(self._warm_rest)

    def _warm_rest(self, loading: Future[Any]) -> None:
        with suppress(RuntimeError):  # closed meanwhile
            self._thread.submit(self._quietly, _warm)
        if self._keeper is not None and self._kb is not None:
            self._keeper.start()

    def _quietly(self, action: Callable[[KnowledgeBase], Any]) -> None:
        """Do something that a call would do anyway; that call reports what fails."""
        try:
            from kbx_tui.tools.redaction import passing_on  # noqa: F401 - loads the filter
            from kbx_tui.tools.servers import handlers  # noqa: F401 - loads the engine

            action(self._opened())
        except KbxError as error:
            log.info("not loaded in advance: %s", error)

    def _opened(self) -> KnowledgeBase:
        if self._kb is None:
            self._kb = self._open_kb()
        return self._kb

    def _close(self) -> None:
        if self._kb is not None:
            self._kb.close()


def _refresh(kb: KnowledgeBase) -> None:
    if kb.is_indexed():
        kb.refresh()


def _warm(kb: KnowledgeBase) -> None:
    if kb.is_indexed():
        kb.warm()
