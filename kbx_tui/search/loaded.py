"""What of one generation of the index is held in memory, and when it is read again."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Snapshot, generation_of, read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors import Vectors, read_vectors
from kbx_tui.knowledge.names import fold
from kbx_tui.search.entity_pass import EntityPass
from kbx_tui.search.evidence import LinkedDocuments
from kbx_tui.search.links import linked_documents

TEXT_TABLES = ("documents", "entities", "facts", "links", "meta")
PATIENCE = 10.0
"""While vectors are being made they are read again after ten times as long as reading takes."""


class Loaded:
    """One generation in memory. What is derived from it is made on first use and dies with it."""

    def __init__(self, store: Store) -> None:
        store.require()
        self._store = store
        self._read_text(store.versions())
        self._vectors: Vectors | None = None
        self._vectors_read = self._reading_took = 0.0

    def _read_text(self, versions: Mapping[str, int]) -> None:
        snapshot = read_snapshot(self._store)
        self.entity_pass = EntityPass(snapshot)
        self.snapshot: Snapshot = snapshot
        self.versions = dict(versions)  # last: when reading fails, the next refresh reads again
        self._titles: dict[str, list[tuple[int, str]]] | None = None
        self._linked: dict[str, LinkedDocuments] = {}

    @property
    def generation(self) -> int:
        return generation_of(self.versions)

    def refresh(self, versions: Mapping[str, int], *, now: bool) -> bool:
        """Read what changed when the tables are at `versions`; True when anything did.

        Without `now`, a change of vectors alone waits: during a long run of indexing there is one
        every few seconds, and reading them all takes part of a second.
        """
        if versions == self.versions:
            return False
        if any(versions[name] != self.versions[name] for name in TEXT_TABLES):
            self._read_text(versions)
            self._vectors = None
            return True
        waited = time.monotonic() - self._vectors_read
        if self._vectors is not None and not now and waited < PATIENCE * self._reading_took:
            return False
        self.versions, self._vectors = dict(versions), None
        return True

    def vectors(self, *, model: str, dimension: int) -> Vectors:
        """Return the vectors of this generation. Raises IndexForeign for another model's."""
        if self._vectors is None:
            self._store.require(model=model)
            began = time.monotonic()
            self._vectors = read_vectors(self._store, self.snapshot, dimension)
            self._vectors_read = time.monotonic()
            self._reading_took = self._vectors_read - began
        return self._vectors

    def best_line(self, path: str, query: NDArray[np.float32]) -> int:
        """Return the line where a document's best chunk begins, 0 where nothing is known."""
        row = self.snapshot.row_of.get(path)
        return 0 if self._vectors is None or row is None else self._vectors.best_line(query, row)

    def linked(self, entity_id: str) -> LinkedDocuments:
        """Return all documents of an entity."""
        known = self._linked.get(entity_id)
        if known is None:
            known = linked_documents(self.snapshot.links.get(entity_id))
            self._linked[entity_id] = known
        return known

    def exact(self, query: str) -> list[tuple[int, str]]:
        """Return document rows whose path, id or title is the query, and which of the three."""
        if self._titles is None:
            self._titles = {}
            snapshot = self.snapshot
            columns = (("path", snapshot.paths), ("id", snapshot.ids), ("title", snapshot.titles))
            for what, values in columns:
                for row, value in enumerate(values):
                    self._titles.setdefault(_key(value), []).append((row, what))
        return self._titles.get(_key(query), [])


def _key(text: str) -> str:
    return " ".join(fold(text).split()).strip("/")
