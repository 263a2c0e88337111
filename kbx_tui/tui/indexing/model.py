"""The state of the Index mode: the run, the files that need attention, and the folders.

Folders are shown with what they hold, and path filters are made of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from kbx_tui.errors import ConfigError
from kbx_tui.index.path_filter import alternatives, is_glob
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, OpenEngine, Status
from kbx_tui.tui.engine.index_sync import IndexSync, run_in_thread
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.terminal_app import Newest

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.evaluation.past_queries import OverRetrieved
    from kbx_tui.index.index_status import IndexOverview


Mark = Literal["", "all", "some", "none"]
"""How much of a folder is in scope; empty where everything is."""


@dataclass(frozen=True, slots=True)
class FolderRow:
    path: str
    """Relative to the root, without a final slash; empty for the whole base."""
    depth: int
    documents: int
    """Number of documents in the folder and all folders below it."""
    hits: int | None
    """Those of them that match the current query; None without a query."""
    mark: Mark
    has_folders: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The folders of the indexed documents. Counts are by folder, those below it included."""

    documents: Mapping[str, int] = field(default_factory=dict)
    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hits: Mapping[str, int] | None = None
    """Documents that match the query, whatever the scope; None without a query."""
    in_scope: Mapping[str, int] | None = None
    """Documents in scope; None where all are."""

    def own_documents(self, folder: str) -> int:
        below = sum(self.documents[child] for child in self.children.get(folder, ()))
        return self.documents.get(folder, 0) - below

    def rows(self, opened: Collection[str]) -> tuple[FolderRow, ...]:
        return tuple(self._rows("", 0, opened)) if self.documents.get("") else ()

    def _rows(self, folder: str, depth: int, opened: Collection[str]) -> Iterator[FolderRow]:
        children, is_open = self.children.get(folder, ()), folder in opened
        hits = None if self.hits is None else self.hits.get(folder, 0)
        yield FolderRow(
            folder,
            depth,
            self.documents[folder],
            hits,
            self._mark(folder),
            bool(children),
            is_open,
        )
        if is_open:
            for child in children:
                yield from self._rows(child, depth + 1, opened)

    def _mark(self, folder: str) -> Mark:
        if self.in_scope is None:
            return ""
        count = self.in_scope.get(folder, 0)
        if count == self.documents[folder]:
            return "all"
        return "some" if count else "none"


def tree_of(paths: Iterable[str]) -> FolderTree:
    documents = count_by_folder(paths)
    children: dict[str, list[str]] = {}
    for folder in sorted(documents):
        if folder:
            children.setdefault(parent_of(folder), []).append(folder)
    return FolderTree(documents, {folder: tuple(below) for folder, below in children.items()})


def count_by_folder(paths: Iterable[str]) -> Mapping[str, int]:
    """Return the number of documents in each folder, those below it included; "" is the root."""
    direct = Counter(map(parent_of, paths))
    counts: Counter[str] = Counter({"": 0})
    for folder, count in direct.items():
        counts[folder] += count
        while folder:
            folder = parent_of(folder)
            counts[folder] += count
    return counts


def parent_of(path: str) -> str:
    """Return the folder that a file or folder is in, empty for the root."""
    return path.rpartition("/")[0]


def folders_to(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(len(parts)))


OWN_FILES = "/*"
_SPECIAL = re.compile(r"[\[*?{},]")
_BRACKETED = re.compile(r"\[([\[*?{},])\]")


def toggled(path: str, folder: str, tree: FolderTree) -> str:
    """Return the path filter with `folder` added or, if it is in scope, taken out.

    From everywhere, and from a filter of another kind, it is the only folder. Taking out the last
    folder gives everywhere, as does the whole base, which is the folder "".
    """
    folders = folders_in(path)
    if not folder:
        return ""
    if not folders:
        return path_of({folder})
    if folder in folders:
        return path_of(folders - {folder})
    outer = next((each for each in folders_to(folder) if each in folders), None)
    if outer is None:
        inner = {each for each in folders if each.startswith(f"{folder}/")}
        return path_of((folders - inner) | {folder})
    return path_of((folders - {outer}) | set(_others(outer, folder, tree)))


def folders_in(path: str) -> frozenset[str] | None:
    """Return the folders that a path filter consists of: no folder for everywhere.

    The files directly in a folder are `folder/*`. For a filter of another kind, return None.
    """
    if not path.strip():
        return frozenset()
    try:
        named = [each.strip().removesuffix("/") for each in alternatives(path.strip())]
    except ConfigError:
        return None
    if len(named) == 1 and not is_glob(named[0]):
        return frozenset(named)
    folders = {_BRACKETED.sub(r"\1", each) for each in named}
    plain = (_BRACKETED.sub("_", each.removesuffix(OWN_FILES)) for each in named)
    return None if any(map(is_glob, plain)) else frozenset(folders)


def path_of(folders: Collection[str]) -> str:
    if not folders:
        return ""
    if len(folders) == 1:
        (folder,) = folders
        return _pattern(folder) if folder.endswith(OWN_FILES) else f"{folder}/"
    return f"{{{','.join(map(_pattern, sorted(folders)))}}}"


def _others(outer: str, folder: str, tree: FolderTree) -> Iterator[str]:
    while folder != outer:
        parent = parent_of(folder)
        yield from (each for each in tree.children.get(parent, ()) if each != folder)
        if tree.own_documents(parent):
            yield f"{parent}{OWN_FILES}" if parent else "*"
        folder = parent


def _pattern(folder: str) -> str:
    own = folder.endswith(OWN_FILES)
    name = _SPECIAL.sub(lambda sign: f"[{sign[0]}]", folder.removesuffix(OWN_FILES))
    return name + (OWN_FILES if own else "/")


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
