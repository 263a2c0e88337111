"""The state of the Index mode: the run, the files that need attention, and the folders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, OpenEngine, Status
from kbx_tui.tui.engine.index_sync import IndexSync, run_in_thread
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.indexing.folder_tree import FolderTree, count_by_folder, toggled, tree_of
from kbx_tui.tui.shell.messages import Newest

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.evaluation.past_queries import OverRetrieved
    from kbx_tui.index.index_status import IndexOverview


MOST_QUERIES = 200
"""Number of past queries that are read, newest first; more take long and add little."""


class RunChanged(Newest):
    """A stage has progressed, or the state of the run has changed."""


class FilesRead(Newest):
    """The list of files that need attention has been updated."""


class FoldersChanged(Newest):
    """The folders, their hits or the folders in scope have changed."""


class IndexModel:
    """The state shown by the Index mode and the folder picker. It outlives the screen."""

    def __init__(
        self,
        client: EngineClient,
        open_engine: OpenEngine,
        status: Status,
        index_sync: IndexSync,
        explore: ExploreModel,
    ) -> None:
        self._client, self._open_engine, self._status = client, open_engine, status
        self.index_sync, self._explore = index_sync, explore
        self.post: Callable[[Message], object] = lambda message: None
        self.overview: IndexOverview | None = None
        self.folders = FolderTree()
        self.over_retrieved: tuple[OverRetrieved, ...] = ()
        """Documents found by too many of the past queries, worst first, including muted ones."""
        self.muted: tuple[str, ...] = ()
        self.has_read_queries = False
        self._firsts: dict[str, tuple[str, ...]] = {}
        self._is_shown = False
        self._reading_files, self._reading_folders = LatestOnly(client), LatestOnly(client)
        self._reading_queries = LatestOnly(client)

    @property
    def path(self) -> str:
        return self._explore.state.path

    def open(self) -> None:
        self._is_shown = True
        self.read_files()
        self.read_folders()
        if self._explore.is_searchable:
            self._reading_queries.start(self._read_past_queries())

    def close(self) -> None:
        self._is_shown = False
        self._reading_queries.cancel()
        self.post = lambda message: None

    def note_index_change(self) -> None:
        self._firsts = {}
        if self._is_shown:
            self.read_folders()
            self._reading_queries.start(self._read_past_queries())

    # Files that need attention.

    def read_files(self) -> None:
        """Compare the files with the index, on a separate thread because it takes long."""
        self._reading_files.start(self._read_files())

    async def _read_files(self) -> None:
        read: list[IndexOverview] = []

        def work() -> None:
            with closing(self._open_engine()) as engine:
                read.append(engine.overview())

        await run_in_thread(work, "kbx-overview")
        self.overview = read[0]
        self.post(FilesRead())

    def note_run(self) -> None:
        self.post(RunChanged())
        if self._is_shown and self.index_sync.run.state in ("idle", "stopped"):
            self.read_files()

    async def _read_past_queries(self) -> None:
        def ask(engine: KnowledgeBase) -> tuple[list[str], tuple[str, ...]]:
            asked = [past.query for past in engine.queries.asked()[:MOST_QUERIES]]
            return asked, engine.settings.search.muted_documents

        asked, self.muted = await self._client.run(ask)
        self._firsts = {query: self._firsts[query] for query in asked if query in self._firsts}
        missing = [query for query in asked if query not in self._firsts]
        read = self._client.in_groups(
            missing, lambda engine, group: engine.tuner.first_results(group)
        )
        async for group, firsts in read:
            self._firsts |= zip(group, firsts, strict=True)
        known = dict(self._firsts)

        def judge(engine: KnowledgeBase) -> tuple[OverRetrieved, ...]:
            from kbx_tui.evaluation.past_queries import find_over_retrieved

            return find_over_retrieved(
                known, engine.documents.titles(), len(engine.documents.paths())
            )

        self.over_retrieved = await self._client.run(judge)
        self.has_read_queries = True
        self.post(FilesRead())

    # Muted documents.

    async def mute(self, path: str) -> None:
        def write(engine: KnowledgeBase) -> tuple[Written, tuple[str, ...]]:
            muted = {*engine.settings.search.muted_documents} ^ {path}
            return engine.tuner.mute_documents(muted), engine.settings.search.muted_documents

        written, muted = await self._client.run(write)
        if (number := written.entry) is not None:
            self._explore.remember(lambda: self._client.start(self._undo_mute(number)))
        self._show_muted(muted)
        verb = "muted: no search shows it" if path in muted else "no longer muted"
        self._status.show_notice(safe_line(f"{path} is {verb}"))

    async def _undo_mute(self, number: int) -> None:
        def undo(engine: KnowledgeBase) -> tuple[str, ...]:
            engine.undo(number)
            return engine.settings.search.muted_documents

        self._show_muted(await self._client.run(undo))
        self._status.show_notice("the muted documents are as before")

    def _show_muted(self, muted: tuple[str, ...]) -> None:
        self.muted = muted
        self.post(FilesRead())
        self._explore.search_again()
        self.read_folders()

    # Folders.

    def read_folders(self) -> None:
        self._reading_folders.start(self._read_folders())

    async def _read_folders(self) -> None:
        if not self._explore.is_searchable:
            return
        state = self._explore.state

        def read(engine: KnowledgeBase) -> FolderTree:
            paths = engine.documents.paths()
            tree = tree_of(paths)
            if state.query:
                everywhere = replace(state, path="")
                evidence = engine.retrieve(everywhere.request())
                tuning = engine.tuning(preset=state.preset, **state.tuning_fields)
                matched = engine.rank(evidence, tuning).included.nonzero()[0].tolist()
                tree = replace(tree, hits=count_by_folder(evidence.paths[row] for row in matched))
            if state.path:
                tree = replace(
                    tree, in_scope=count_by_folder(engine.documents.in_scope(state.path))
                )
            return tree

        self.folders = await self._client.run(read)
        self.post(FoldersChanged())

    def toggle(self, folder: str) -> None:
        self._search_in(toggled(self.path, folder, self.folders))

    def take(self, folder: str) -> None:
        self._search_in(f"{folder}/" if folder else "")

    def undo(self) -> None:
        self._explore.undo()
        self.read_folders()

    def _search_in(self, path: str) -> None:
        self._explore.apply(path=path)
        self.read_folders()
