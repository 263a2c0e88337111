"""Keeping the index up with the files: indexing at the start and whenever a file changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import IndexLocked, KbxError
from kbx_tui.formatting import count_words
from kbx_tui.log_file import logger
from kbx_tui.tui.engine.engine_calls import EngineCalls
from kbx_tui.tui.engine.threads import IndexThread, Loop, WatchThread
from kbx_tui.tui.explore.search_labels import progress_words
from kbx_tui.tui.messages import Indexing, Noticed

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress

LOCKED_PATIENCE = 2.0
"""Seconds until the app looks again whether another process has finished indexing."""


class Upkeep:
    """One run of indexing at a time; what changes meanwhile is indexed right after."""

    def __init__(
        self,
        loop: Loop,
        calls: EngineCalls,
        post: Callable[[Message], object],
        *,
        grown: Callable[[frozenset[str]], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """`grown` hears that the index holds more, and which files changed on disk."""
        self._loop, self._calls, self._post = loop, calls, post
        self._grown, self._failed = grown, failed
        self._indexing: IndexThread | None = None
        self._watching: WatchThread | None = None
        self._changed: frozenset[str] = frozenset()
        self._perhaps: frozenset[str] = frozenset()
        self._own: set[str] = set()
        """Files that the app itself wrote, and nobody has to be told of."""
        self._again = False

    def index(self, perhaps: Iterable[str] = ()) -> None:
        """Bring the index up to date; while that goes on, do it once more afterwards.

        `perhaps` are files that may have changed without anyone having told.
        """
        if self._loop.closed.is_set():  # a look put off until later may come after the end
            return
        self._perhaps |= frozenset(perhaps)
        if self._indexing is not None:
            self._again = True
            return
        self._indexing = IndexThread(
            self._loop,
            self._calls.index,
            report=self._report,
            grown=lambda: self._grown(frozenset()),
            ended=self._ended,
        )
        self._indexing.start()

    def expect(self, paths: Iterable[str]) -> None:
        """The app wrote these files itself."""
        self._own.update(paths)

    def watch(self) -> None:
        """Index whatever changes on disk from now on."""
        if self._watching is None:
            self._watching = WatchThread(
                self._loop, self._calls.watch, changed=self._files_changed, ended=self._unwatched
            )
            self._watching.start()

    async def stop(self) -> None:
        """Indexing is told to end, by the loop that is closed, and given a moment for it."""
        if self._indexing is not None:
            await self._indexing.join()

    def _report(self, progress: Progress) -> None:
        self._post(Indexing(progress_words(progress)))

    def _files_changed(self, paths: frozenset[str]) -> None:
        self._changed |= paths
        if others := len(self._changed - self._own):
            self._post(Indexing(f"{count_words(others, 'file')} changed on disk, indexing"))
        self.index()

    def _ended(self, raised: Exception | None) -> None:
        self._indexing = None
        self._post(Indexing(""))
        if raised is None:
            self._grown(frozenset() if self._again else self._taken_in())
        elif isinstance(raised, IndexLocked):  # another process does the work: look again
            self._post(Indexing("another process is indexing"))
            self._loop.adopt().call_later(LOCKED_PATIENCE, self.index)
            self._grown(frozenset())
        else:
            self._failed(raised)
        if self._again:
            self._again = False
            self.index()

    def _taken_in(self) -> frozenset[str]:
        """Tell how many files changed and return them, with those that may have."""
        changed, perhaps = self._changed, self._perhaps
        self._changed = self._perhaps = frozenset()
        if others := len(changed - self._own):
            self._post(Noticed(f"{count_words(others, 'change')} on disk taken in"))
        self._own -= changed
        return changed | perhaps

    def _unwatched(self, raised: Exception | None) -> None:
        if raised is not None:
            logger().warning("changes on disk are not seen: %s", raised)
            why = str(raised) if isinstance(raised, KbxError) else type(raised).__name__
            self._post(Noticed(f"changes on disk are not seen by themselves ({why}); R looks"))
