"""Vectors of the profiles of entities, and those nearest to a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kbx_tui.index.columns.versions import VersionArray, equal_until
from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.exact_products import products_of
from kbx_tui.index.vectors.int8_codes import Matrix, QuantizedVectors, Vector, nearest

NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class ProfileVectors:
    """The vectors of profiles: those mapped from a file, and the few newer than it."""

    vectors: Matrix
    """Those of the file, shape (n, dimension); zeros without a vector."""
    quantized: QuantizedVectors
    """The codes of `vectors`."""
    sources: Rows | None
    """The row in `vectors` of each entity, -1 for none of them; None where it is the same row."""
    newer: Matrix
    newer_entities: Rows
    """The entity of each of `newer`."""

    @classmethod
    def of(cls, vectors: Matrix, quantized: QuantizedVectors) -> Self:
        """Return those of all entities, by row."""
        return cls(vectors, quantized, None, vectors[:0], NO_ROWS)

    def nearest(self, query: Vector, count: int) -> tuple[Rows, Vector]:
        """Return the entities whose profiles have the highest cosines with a query, and these.

        In no particular order, at least `count` where there are as many.
        """
        used = None
        if self.sources is not None:
            used = np.zeros(len(self.vectors), np.bool_)
            used[self.sources[self.sources >= 0]] = True
        rows = np.sort(nearest(self.vectors, self.quantized, query, count, used))
        cosines = products_of(self.vectors, rows, query) if len(rows) else self.vectors[:0, 0]
        entities = rows
        if self.sources is not None:
            places = np.minimum(rows.searchsorted(self.sources), max(len(rows) - 1, 0))
            entities = np.flatnonzero(rows[places] == self.sources) if len(rows) else NO_ROWS
            cosines = cosines[places[entities]]
        if not len(self.newer):
            return entities, cosines
        return (
            np.concatenate((entities, self.newer_entities)),
            np.concatenate((cosines, self.newer @ query)),
        )


def sources_of(profiles: VersionArray, stored: VersionArray) -> Rows | None:
    """Return the row that each profile, given by its hash, has among stored ones, -1 for none.

    None where they are the same. Several entities may have the same profile.
    """
    if np.array_equal(profiles, stored):
        return None
    size = min(len(profiles), len(stored))
    before = equal_until(profiles[:size], stored[:size])
    after = equal_until(profiles[::-1][: size - before], stored[::-1][: size - before])
    end = len(profiles) - after
    sources = np.full(len(profiles), -1, np.int64)
    sources[:before] = np.arange(before)
    sources[end:] = np.arange(len(stored) - after, len(stored))
    wanted = np.unique(profiles[before:end])
    if len(wanted):
        places = np.minimum(wanted.searchsorted(stored), len(wanted) - 1)
        found = np.flatnonzero(wanted[places] == stored)
        rows = np.full(len(wanted), -1, np.int64)
        rows[places[found]] = found
        sources[before:end] = rows[wanted.searchsorted(profiles[before:end])]
    return sources
