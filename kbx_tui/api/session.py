"""State of one open knowledge base: settings, index, model and caches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from kbx_tui.config import Settings
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener
from kbx_tui.index.build.writer_lock import is_being_written
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.store import Store, index_uri
from kbx_tui.safe_text import replace_surrogates

if TYPE_CHECKING:
    from kbx_tui.editing.state.drafts import Draft
    from kbx_tui.index.snapshot import Snapshot
    from kbx_tui.knowledge.records import Document
    from kbx_tui.search.open_index import OpenIndex

Notice = Callable[[str], None]
Resource = TypeVar("Resource")

REFRESH_SECONDS = 0.2
"""Minimum time between two checks of the index for changes by `fresh_index`."""


class Session:
    """State shared by the parts of a `KnowledgeBase`; the parts themselves hold none.

    Cheap to make: index and model load on first use. For one thread at a time.
    """

    def __init__(self, root: Path, settings: Settings, notice: Notice = lambda text: None) -> None:
        self.root, self.settings, self.notice = root, settings, notice
        self.unindexed_paths: set[str] = set()
        """Files written through this session that the index does not reflect yet."""
        self.known_drafts: Mapping[str, Draft] = MappingProxyType({})
        """Drafts as last read or saved here, by id: the base of a three-way merge."""
        self.word_matches: tuple[object, str, Mapping[str, Document]] | None = None
        """Snapshot, word and documents of the last `Catalog.documents_containing`."""
        self._embedder: Embedder | None = None
        self._index: OpenIndex | None = None
        self._shared: dict[type[Any], Any] = {}
        self._refreshed_at = -math.inf

    def close(self) -> None:
        """Release model, tables and caches; the session may be used again."""
        if self._index is not None:
            self._index.close()
        self._embedder = self._index = self.word_matches = None
        self._shared.clear()

    def shared(self, kind: type[Resource], make: Callable[[], Resource]) -> Resource:
        """Return this session's only instance of `kind`, made on first use, dropped by `close`."""
        if kind not in self._shared:
            self._shared[kind] = make()
        resource: Resource = self._shared[kind]
        return resource

    def store(self) -> Store:
        return Store(index_uri(self.root, self.settings))

    def embedder(self) -> Embedder:
        """Return the model of kbx.toml. Raises EmbeddingError."""
        if self._embedder is None:
            self._embedder = open_embedder(self.settings.embedding.model)
        return self._embedder

    def open_index(self) -> OpenIndex:
        """Return the index as last read, opened on first use. Raises NotFound without one."""
        if self._index is None:
            from kbx_tui.search.open_index import OpenIndex  # `status` and `index` need none of it

            self._index = OpenIndex(self.store())
        return self._index

    def fresh_index(self) -> OpenIndex:
        """Return the index, read again if another process changed it."""
        if time.monotonic() - self._refreshed_at > REFRESH_SECONDS:
            self.refresh()
        return self.open_index()

    def snapshot(self) -> Snapshot:
        """Return what the newest index holds in memory."""
        return self.fresh_index().generation().snapshot

    def refresh(self) -> bool:
        """Return whether the index has a newer generation, which is then in use."""
        changed = self.open_index().refresh(now=not is_being_written(self.root))
        self._refreshed_at = time.monotonic()
        return changed

    def is_indexed(self) -> bool:
        """Return whether text and entities can be searched."""
        store = self.store()
        return store.exists() and store.is_searchable()

    def ensure_indexed(self, *, fast: bool = True) -> None:
        """Index a base that has no index yet; with `fast`, without vectors of documents."""
        if not self.is_indexed():
            what = "its text" if fast else "it"
            self.notice(f"{self.root} is not indexed yet; indexing {what} first")
            self.index(fast=fast)

    def index(
        self,
        progress: ProgressListener | None = None,
        *,
        fast: bool = False,
        full: bool = False,
        cancelled: Cancelled = lambda: False,
        wait: bool = True,
        only: Collection[str] | None = None,
    ) -> IndexReport:
        from kbx_tui.index.build.build_index import build  # parses markdown: not for a search

        self._refreshed_at = -math.inf
        return build(
            self.root,
            self.settings,
            self.embedder(),
            listener=progress,
            fast=fast,
            full=full,
            cancelled=cancelled,
            wait=wait,
            on_wait=self.notice,
            only=only,
        )

    def path_filter(self, path: str | None) -> PathFilter:
        """Return a path, glob or nothing as a filter. Raises ConfigError."""
        return PathFilter.parse(replace_surrogates(path or ""), self.root)
