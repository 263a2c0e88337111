"""The app's client of the engine: calls on a thread of their own, results on the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.message import Message

from kbx_tui.errors import KbxError
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.config import Settings
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.knowledge.topics import EntityProposal


T = TypeVar("T")
ItemT = TypeVar("ItemT")
OpenEngine = Callable[[], "KnowledgeBase"]

GROUP = 5
"""Items of `in_groups` that are read in one call, for which a search may have to wait."""
GROUP_PAUSE = 0.005


class EngineClient:
    """Owns the engine and the one thread that calls it.

    Nothing else in the app makes engine calls that do I/O, except indexing and watching, which
    open engines of their own (`index_sync`).
    """

    def __init__(
        self,
        open_engine: OpenEngine,
        *,
        on_error: Callable[[Exception], object],
        on_answer: Callable[[], object] = lambda: None,
    ) -> None:
        """Open nothing yet: the first call opens the engine.

        `on_error` receives what background requests raise, `on_answer` is called after each
        answer; both run on the event loop.
        """
        self._open_engine = open_engine
        self._on_error, self._on_answer = on_error, on_answer
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kbx-engine")
        self._writes: deque[Callable[[KnowledgeBase], object]] = deque()
        self._tasks: set[asyncio.Task[object]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context = copy_context()
        """Context of the last request, by which Textual finds the app; other threads lack it."""
        self.engine: KnowledgeBase | None = None
        """The engine, for calls without I/O; None until it is open."""
        self.closed = threading.Event()

    async def run(self, call: Callable[[KnowledgeBase], T]) -> T:
        """Return what `call` returns for the engine; calls run one after the other.

        Raises what `call`, or opening the engine, raises. If the awaiting task is cancelled, a
        call that has not begun is skipped, and the result of one that has is dropped.
        """
        answer = await self.look(call)
        self._on_answer()
        return answer

    async def look(self, call: Callable[[KnowledgeBase], T]) -> T:
        """Run `call` as `run` does, without `on_answer`: the user does not wait for it."""
        return await asyncio.wrap_future(self._pool.submit(self._call, call))

    async def write(self, call: Callable[[KnowledgeBase], object]) -> None:
        """Run `call`, which saves work of the user, as `run` does; closing does not skip it."""
        self._writes.append(call)
        await self.run(lambda engine: self._writes.popleft()(engine))

    async def in_groups(
        self, items: Sequence[ItemT], read: Callable[[KnowledgeBase, Sequence[ItemT]], T]
    ) -> AsyncIterator[tuple[Sequence[ItemT], T]]:
        """Yield what `read` returns for a few items at a time; searches are answered in between."""
        for start in range(0, len(items), GROUP):
            group = items[start : start + GROUP]

            def call(engine: KnowledgeBase, group: Sequence[ItemT] = group) -> T:
                return read(engine, group)

            yield group, await self.run(call)
            await asyncio.sleep(GROUP_PAUSE)

    def start(self, request: Coroutine[Any, Any, object]) -> asyncio.Task[object] | None:
        if self.closed.is_set():
            request.close()
            return None
        self._loop, self._context = asyncio.get_running_loop(), copy_context()
        task: asyncio.Task[object] = asyncio.create_task(request)
        self._tasks.add(task)  # asyncio itself keeps only weak references
        task.add_done_callback(self._finish)
        return task

    def call_on_loop(self, callback: Callable[..., object], *args: object) -> None:
        if self._loop is None or self.closed.is_set():
            return
        try:
            self._loop.call_soon_threadsafe(callback, *args, context=self._context)
        except RuntimeError:  # the loop has been closed
            self.closed.set()

    def report(self, error: Exception) -> None:
        if not self.closed.is_set():
            self._on_error(error)

    def close(self, last: Callable[[KnowledgeBase], object] | None = None) -> Future[None]:
        """Cancel all requests, make the writes that wait and the call `last`, close the engine.

        Returns the future of that, without waiting. Writes and `last`, which save the user's work,
        open an engine that is not open yet.
        """
        self.closed.set()
        for task in self._tasks:
            task.cancel()
        if last is not None:
            self._writes.append(last)
        closing = self._pool.submit(self._close)
        self._pool.shutdown(wait=False)
        return closing

    def _finish(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.report(error)

    # On the engine's thread.

    def _call(self, call: Callable[[KnowledgeBase], T]) -> T:
        if self.closed.is_set():
            raise asyncio.CancelledError
        if self.engine is None:
            self.engine = self._open_engine()
        return call(self.engine)

    def _close(self) -> None:
        if self._writes and self.engine is None:
            self.engine = self._open_engine()
        if self.engine is not None:
            try:
                while self._writes:
                    self._save(self._writes.popleft(), self.engine)
            finally:
                self.engine.close()

    def _save(self, write: Callable[[KnowledgeBase], object], engine: KnowledgeBase) -> None:
        try:
            write(engine)
        except KbxError as error:  # others may still work
            logger().error("%s", error, exc_info=error)


class LatestOnly:
    """One request of a kind: another cancels it, so that no late answer replaces a newer one."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._task: asyncio.Task[object] | None = None

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self, request: Coroutine[Any, Any, object]) -> None:
        self.cancel()
        self._task = self._client.start(request)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None


class Status(Protocol):
    """The status line of the current mode. Call its methods on the event loop."""

    def show_notice(self, text: str, *, yields: bool = False) -> None:
        """Show a text for a while; not if it `yields` and another, or a new error, is."""

    def show_error(self, text: str) -> None: ...

    def show_progress(self, text: str) -> None: ...


class Host(Status, Protocol):
    """The app, as a session and its models know it. Call its methods on the event loop."""

    def key_of(self, command_id: str) -> str: ...

    def broadcast(self, message: Message) -> None:
        """Post a message to all screens of the open base."""

    def configure(self, settings: Settings) -> None:
        """Apply the settings of the base, after it has been opened."""

    def ask_for_trust(self, go_on: Callable[[], object]) -> None:
        """Ask for what the base needs trust for; `go_on` is called if it stays open without."""

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        """Ask whether to index that much; `answer` receives whether the user says so."""

    @property
    def may_ask_for_entities(self) -> bool: ...

    def ask_for_entities(self, proposal: EntityProposal, answer: Callable[[bool], object]) -> None:
        """Ask whether to use proposed entities; `answer` receives whether the user says so."""
