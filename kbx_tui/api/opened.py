"""A knowledge base that is open: its index, its model, and what keeps both up to date."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kbx_tui.config import Settings, knowledge_base_from_environment, load_settings
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener
from kbx_tui.index.store import Store, index_uri
from kbx_tui.knowledge.vault import find_root

if TYPE_CHECKING:
    import threading

    from kbx_tui.embedding.embedder import Embedder
    from kbx_tui.index.paths.path_filter import PathFilter
    from kbx_tui.index.status import Status
    from kbx_tui.search.open_index import OpenIndex
    from kbx_tui.search.retrieval.retrieve import Retriever
    from kbx_tui.similarity.similarity_engine import SimilarityEngine

Notice = Callable[[str], None]

REFRESH_SECONDS = 0.2
"""A search looks whether the index changed unless that was done so lately: it takes 2 ms."""


class OpenedBase:
    """What every part of KnowledgeBase stands on. Cheap to make; the engine loads when needed.

    For one thread at a time. `notice` hears, in one sentence, what happens on the way: that an
    index is made, that another process is waited for.
    """

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        settings: Settings | None = None,
        notice: Notice | None = None,
    ) -> None:
        """Open the base at `root`, else at KBX_ROOT, else the nearest one upward.

        Raises NotFound and ConfigError.
        """
        given = Path(root).expanduser() if root is not None else knowledge_base_from_environment()
        self.root = find_root(given=given)
        self.settings = settings if settings is not None else load_settings(self.root)
        self._notice: Notice = notice or (lambda text: None)
        self._embedder: Embedder | None = None
        self._opened: OpenIndex | None = None
        self._retriever: Retriever | None = None
        self._similarity: SimilarityEngine | None = None
        self._refreshed = -REFRESH_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of model, tables and memory; the base may be used again."""
        if self._opened is not None:
            self._opened.close()
        self._embedder = self._opened = self._retriever = self._similarity = None

    def is_indexed(self) -> bool:
        """Tell whether text and entities can be searched; loads nothing for a local index."""
        store = self._store()
        return store.exists() and store.is_searchable()

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
        """Bring the index up to date with the files.

        `fast` stops when text and entities can be searched, `full` builds everything anew (known
        vectors are kept); with `only` no files but these are looked at. Raises IndexFault,
        IndexLocked (only without `wait`), IndexForeign and EmbeddingError.
        """
        from kbx_tui.index.build.build_index import build

        self._refreshed = -REFRESH_SECONDS
        return build(
            self.root,
            self.settings,
            self._model(),
            listener=progress,
            fast=fast,
            full=full,
            cancelled=cancelled,
            wait=wait,
            on_wait=self._notice,
            only=only,
        )

    def refresh(self) -> bool:
        """Look whether the index changed; True when the next search reads another generation.

        While a process is indexing, new vectors may lag behind by some seconds: to read them all
        takes part of a second in a large base.
        """
        from kbx_tui.index.build.writer_lock import is_being_written

        changed = self._open_index().refresh(now=not is_being_written(self.root))
        self._refreshed = time.monotonic()
        return changed

    def warm(self) -> None:
        """Load what the first search needs: model, vectors, entities. Raises as `retrieve`."""
        self._engine().warm()

    def watch(self, changed: Callable[[frozenset[str]], None], *, stopped: threading.Event) -> None:
        """Call `changed` with the paths of files that changed on disk, until `stopped` is set.

        Blocks, for a thread of its own; it touches nothing that the other methods use. Paths are
        relative to the root; one call tells all that changed within some 0.3 seconds. Raises
        NotFound when the root is gone, KbxError when the system cannot watch it.
        """
        from kbx_tui.index.build.watch import watch

        watch(self.root, self.settings.index.exclude, changed, stopped=stopped)

    def count_newer_files(self) -> int:
        """Return how many files were written or removed since the last run: a quick look."""
        from kbx_tui.index.status import count_newer_files

        return count_newer_files(self.root, self.settings)

    def status(self) -> Status:
        """Return what is indexed, what is out of date, and which files had problems."""
        from kbx_tui.index.status import read_status

        return read_status(self.root, self.settings)

    def _keep_fresh(self) -> None:
        if time.monotonic() - self._refreshed > REFRESH_SECONDS:
            self.refresh()

    def _store(self) -> Store:
        return Store(index_uri(self.root, self.settings))

    def _model(self) -> Embedder:
        if self._embedder is None:
            from kbx_tui.embedding.local import open_embedder

            self._embedder = open_embedder(self.settings.embedding.model)
        return self._embedder

    def _path_filter(self, path: str | None) -> PathFilter:
        from kbx_tui.index.paths.path_filter import PathFilter

        return PathFilter.parse(well_formed(path or ""), self.root)

    def _open_index(self) -> OpenIndex:
        if self._opened is None:
            from kbx_tui.search.open_index import OpenIndex

            self._opened = OpenIndex(self._store())
        return self._opened

    def _engine(self) -> Retriever:
        if self._retriever is None:
            from kbx_tui.search.frecency import Usage
            from kbx_tui.search.retrieval.retrieve import Retriever

            # `fast` needs no model
            self._retriever = Retriever(self._open_index(), self._model, Usage(self.root))
        return self._retriever


def well_formed(text: str) -> str:
    """Return text any library takes: half a character, as a terminal may pass on, becomes `?`."""
    return text.encode("utf-8", "replace").decode()
