"""One index, open for reading: its tables, and what of its newest generation is in memory."""

from __future__ import annotations

from kbx_tui.index.reader import Reader
from kbx_tui.index.store import Store
from kbx_tui.search.index_generation import Loaded


class OpenIndex:
    """Reads one store. For one thread at a time."""

    def __init__(self, store: Store) -> None:
        self._store, self.reader = store, Reader(store.uri)
        self._loaded: Loaded | None = None
        self._build = store.build_id()
        self._stamp: tuple[int, ...] | None = None
        """Where the tables stood when what is in memory was last known to be the newest."""

    def close(self) -> None:
        """Let go of tables and memory."""
        self.reader.close()
        self._loaded = None

    def refresh(self, *, now: bool = True) -> bool:
        """Read another generation if there is one; True when there is.

        Without `now`, vectors that are being made may lag behind by some seconds.
        """
        build, stamp = self._store.build_id(), self._store.stamp()
        if self._loaded is not None and build == self._build:
            if stamp is not None and stamp == self._stamp:
                return False
            versions = self.reader.versions()
            changed = self._loaded.refresh(versions, now=now)
            self._stamp = stamp if self._loaded.versions == versions else None
            return changed
        if build != self._build:  # made anew in the same place: what is open is of the old one
            self.reader.close()
            self._store = Store(self._store.uri)
        self._loaded = Loaded(self._store)
        self._build, self._stamp = build, None
        return True

    @property
    def known(self) -> Loaded | None:
        """What is in memory; None when nothing is yet."""
        return self._loaded

    def loaded(self) -> Loaded:
        """Return what is in memory, read now when nothing is."""
        if self._loaded is None:
            self._loaded = Loaded(self._store)
        return self._loaded
