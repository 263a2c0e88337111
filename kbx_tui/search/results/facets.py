"""Facets: the number of results with each type, tag, month, person and folder. Pure; in memory.

Everything that does not depend on the query is computed once per index generation, so that
counting takes a few array operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.dates import first_day
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.search.query.typed_filters import Key
from kbx_tui.search.request import tag_keys

MOST_VALUES = 8


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value that some results have; `key` and `value` are those of a filter for it."""

    key: Key
    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    total: int
    values: tuple[FacetValue, ...]
    """Types, tags, people, folders, in this order; the most frequent of each first."""
    months: tuple[tuple[str, int], ...]
    """The months of the results' dates, `2026-03`, ascending, each with its number of results."""
    undated: int


@dataclass(frozen=True, slots=True)
class _Column:
    key: Key
    values: tuple[tuple[str, str], ...]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    """Parallel to `rows`: a document has the value with this index in `values`."""

    @classmethod
    def of(cls, key: Key, pairs: Sequence[tuple[int, Any]], labels: Mapping[Any, Any]) -> _Column:
        """Return the column of (row, value) pairs; `labels` has filter and label of each value."""
        numbers = {value: number for number, value in enumerate(labels)}
        distinct = sorted(set(pairs))
        rows = np.array([row for row, _ in distinct], np.int64)
        codes = np.array([numbers[value] for _, value in distinct], np.int64)
        return cls(key, tuple(labels.values()), rows, codes)

    def counts(self, flags: NDArray[np.bool_]) -> list[FacetValue]:
        counts = np.bincount(self.codes[flags[self.rows]], minlength=len(self.values))
        order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
        return [
            FacetValue(self.key, value, label, int(counts[code]))
            for code in order.tolist()
            for value, label in [self.values[code]]
            if counts[code]
        ]


class FacetIndex:
    def __init__(self, snapshot: Snapshot) -> None:
        self._row_of = snapshot.row_of
        kinds = [(row, kind) for row, kind in enumerate(snapshot.kinds) if kind]
        tags = [
            (row, key)
            for row, tags in enumerate(snapshot.tags)
            for key in dict.fromkeys(key for tag in tags for key in tag_keys(tag))
        ]
        people = {entity.id: entity for entity in snapshot.entities if entity.type == "person"}
        names = Counter(name_key(entity.name) for entity in people.values())
        linked = [
            (row, owner)
            for owner, links in snapshot.links.items()
            if owner in people
            for row in links.rows.tolist()
        ]
        self._columns = (
            _Column.of("type", kinds, {kind: (kind, kind) for _, kind in kinds}),
            _Column.of("tag", tags, {tag: (tag, tag) for _, tag in tags}),
            _Column.of(
                "@",
                linked,
                {
                    owner: (
                        slug(person.name) if names[name_key(person.name)] == 1 else owner,
                        person.name,
                    )
                    for owner, person in people.items()
                },
            ),
            _folders(snapshot.paths),
        )
        self._months = np.array([date and first_day(date)[:7] for date in snapshot.dates])

    def of(self, paths: Iterable[str]) -> Facets:
        rows = [self._row_of.get(path, -1) for path in paths]
        flags = np.zeros(len(self._months) + 1, np.bool_)  # the last is for deleted documents
        flags[rows] = True
        flags = flags[:-1]
        months, counts = np.unique(self._months[flags], return_counts=True)
        dated = dict(zip(months.tolist(), counts.tolist(), strict=True))
        undated = dated.pop("", 0)
        values = [value for column in self._columns for value in column.counts(flags)]
        return Facets(len(rows), tuple(values), tuple(dated.items()), undated)


def _folders(paths: Sequence[str]) -> _Column:
    """Return the column of folders that are useful as filters.

    Left out is a folder with all documents, or with all of those in its parent folder.
    """
    pairs = [(row, "/".join(path.split("/")[:end])) for row, path in enumerate(paths)
             for end in range(1, path.count("/") + 1)]  # fmt: skip
    counts = Counter(folder for _, folder in pairs)
    kept = {
        folder: (folder, folder)
        for folder, count in counts.items()
        if count < len(paths) and count != counts[folder.rpartition("/")[0]]
    }
    return _Column.of("in", [(row, folder) for row, folder in pairs if folder in kept], kept)
