"""An open index: its tables, and its newest generation in memory."""

from __future__ import annotations

from kbx_tui.index.integrity.noted_state import undamaged_versions
from kbx_tui.index.store import Store
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.index.table_reader import TableReader
from kbx_tui.search.index_generation import IndexGeneration


class OpenIndex:
    """Reads one store. Not thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store, self.reader = store, TableReader(store.uri)
        self._generation: IndexGeneration | None = None
        self._build = store.build_id()
        self._stamp: tuple[int, ...] | None = None
        """Modification stamp of the tables when the generation in memory was last the newest."""

    def close(self) -> None:
        """Release tables and memory."""
        self.reader.close()
        self._generation = None

    def was_damaged(self) -> bool:
        """Return whether files that are mapped into memory were changed in place."""
        return self._generation is not None and self._generation.was_damaged()

    def refresh(self, *, now: bool = True) -> bool:
        """Read the newest generation; return whether it changed.

        Without `now`, vectors may lag some seconds behind while they are being computed.
        """
        build, stamp = self._store.build_id(), self._store.stamp()
        if self.was_damaged():
            self._generation = None
        if self._generation is not None and build == self._build:
            if stamp is not None and stamp == self._stamp:
                return False
            versions, changed = self.reader.versions(), True
            if self._generation.has_text_of(versions):
                changed = self._generation.refresh_vectors(versions, now=now)
            else:
                self._generation = self._read()
            self._stamp = stamp if self._generation.versions == versions else None
            return changed
        if build != self._build:  # rebuilt in the same place: the open tables are the old ones
            self.reader.close()
            self._store = Store(self._store.uri)
        self._generation = self._read()
        self._build, self._stamp = build, None
        return True

    @property
    def store(self) -> Store:
        """The tables of the generation in memory."""
        return self._store

    @property
    def in_memory(self) -> IndexGeneration | None:
        """The generation in memory, None before the first read."""
        return self._generation

    def generation(self) -> IndexGeneration:
        """Return the generation in memory; reads it if there is none."""
        if self._generation is None:
            self._generation = self._read()
        return self._generation

    def _read(self) -> IndexGeneration:
        with translate_errors("read the index", self._store.uri):
            versions = undamaged_versions(self._store)
            self._store.check_compatible()
            before = None if self._generation is None else self._generation.known_destinations
            return IndexGeneration(self._store, versions, before)
