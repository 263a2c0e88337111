"""The thread on which servers run the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any

from kbx_tui.tools.contracts.failures import Failure
from kbx_tui.tools.servers.dispatch import Answer, answer_call, failed_answer

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

TIMEOUT_SECONDS = 60.0
"""After this a caller is asked to try again; the work continues."""


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
    ) -> None:
        self._open_kb, self.allow_writes, self.timeout = open_kb, allow_writes, timeout
        self._kb: KnowledgeBase | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kbx-tools")

    def submit(self, name: str, params: Mapping[str, Any]) -> Future[Answer]:
        """Start a call and return a future of its answer, which may be a failure."""
        return self._thread.submit(
            answer_call, self._opened, name, params, allow_writes=self.allow_writes
        )

    def run(self, action: Callable[[KnowledgeBase], Any]) -> Future[Any]:
        """Start any other work on the knowledge base."""
        return self._thread.submit(lambda: action(self._opened()))

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
        self._thread.submit(self._close)
        self._thread.shutdown(wait=True, cancel_futures=False)

    def _opened(self) -> KnowledgeBase:
        if self._kb is None:
            self._kb = self._open_kb()
        return self._kb

    def _close(self) -> None:
        if self._kb is not None:
            self._kb.close()
