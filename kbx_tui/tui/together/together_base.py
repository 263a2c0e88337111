"""One of the bases searched together: its engine, its index, and what is to be said about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.errors import KbxError, NotTrusted
from kbx_tui.formatting import format_count
from kbx_tui.log_file import logger
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, OpenEngine
from kbx_tui.tui.engine.index_upkeep import index_upkeep

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.index.build.new_files import IndexQuestion


class TogetherBase:
    """A base whose index is kept up to date while several are searched.

    What it has to say it says in its row, so that it is the `Status` of its own indexing.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        open_engine: OpenEngine,
        *,
        writes: bool,
        on_change: Callable[[], object],
        on_content: Callable[[], object],
    ) -> None:
        """`on_change` is called when `words` change, `on_content` when the base has other content.

        Opens nothing yet.
        """
        self.name, self.root = name, root
        self._on_change, self._on_content = on_change, on_content
        self.client = EngineClient(open_engine, on_error=self._take_error)
        self.index_sync = index_upkeep(
            self.client,
            open_engine,
            self,
            writes=writes,
            on_growth=lambda changed: self._start_count(),
            on_question=self._take_question,
        )
        self.is_searchable = False
        """Whether it is open and has an index."""
        self._problem = self._progress = ""
        self._is_asked = False
        self._documents: int | None = None

    @property
    def words(self) -> str:
        """What it holds, or why it cannot be searched."""
        if self._problem:
            return self._problem
        holds = "" if self._documents is None else format_count(self._documents, "document")
        return " · ".join(filter(None, (holds, self._progress))) or "opening …"

    def start(self) -> None:
        """Open the base, or try again; index what is missing, and watch its files."""
        self._problem = ""
        if self._is_asked:  # it may have been indexed, or declined, in the meantime
            self._is_asked = False
            self.index_sync.answer(confirmed=False)
        self.client.start(self._open())

    def note_answer(self) -> None:
        """Forget an error of an earlier search: the base has answered."""
        if not self._is_asked:
            self._problem = ""

    def rest(self) -> None:
        """Stop watching: the base is open alone, or is not looked at."""
        self.index_sync.stop_watching()

    # The status of indexing.

    def show_notice(self, text: str) -> None:
        """Ignore a notice: what changed is found by the next search."""

    def show_error(self, text: str) -> None:
        """Show an error in place of what the base holds."""
        self._problem = safe_line(text)
        self._on_change()

    def show_progress(self, text: str) -> None:
        """Show the progress of indexing; an empty text removes it."""
        self._progress = safe_line(text)
        self._on_change()

    # Opening and counting.

    async def _open(self) -> None:
        await self._count()
        if self.is_searchable:
            await self.client.run(lambda engine: engine.warm())
        self.index_sync.index(by_user=True)
        self.index_sync.watch()

    def _start_count(self) -> None:
        self.client.start(self._count())

    async def _count(self) -> None:
        def count(engine: KnowledgeBase) -> int | None:
            return engine.count_scope("")[1] if engine.is_indexed() else None

        self._documents = await self.client.run(count)
        self.is_searchable = self._documents is not None
        self._problem = ""
        self._on_change()
        self._on_content()

    def _take_question(self, question: IndexQuestion) -> None:
        self._is_asked = True
        self.show_error(f"{question.count} to index: enter opens it alone, and asks")

    def _take_error(self, error: Exception) -> None:
        if isinstance(error, NotTrusted):
            self.show_error("asks for your permission: enter opens it alone, and shows for what")
            return
        if not isinstance(error, KbxError):
            logger().error("%s", error, exc_info=error)
        self.show_error(str(error).strip() or type(error).__name__)
