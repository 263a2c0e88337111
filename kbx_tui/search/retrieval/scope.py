"""Which documents a query may return: decided once, before anything is scored."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kbx_tui.index.paths.globs import literal_start
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.paths.where_clause import both, dates_where, kinds_where, path_where
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.search.evidence.evidence import Flags, Rows, Scope, frozen
from kbx_tui.search.query.filters import Filters

ALL = Filters()


@dataclass(frozen=True, slots=True)
class ScopedDocuments:
    """The documents in scope, as columns of Evidence."""

    flags: Flags
    """Over all documents."""
    scope: Scope
    rows: Rows
    """Those in scope, ascending."""
    paths: tuple[str, ...]
    titles: tuple[str, ...]
    dates: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, snapshot: Snapshot, flags: Flags, scope: Scope) -> Self:
        """Take the columns of the documents that are flagged."""
        rows = np.flatnonzero(flags)
        columns = (snapshot.paths, snapshot.titles, snapshot.dates, snapshot.kinds)
        if len(rows) == len(flags):
            return cls(flags, scope, rows, *columns)
        picked = (tuple(map(one.__getitem__, rows.tolist())) for one in columns)
        return cls(flags, scope, rows, *picked)


def find_scope(
    snapshot: Snapshot, path: PathFilter, filters: Filters = ALL, *, fast: bool = False
) -> tuple[Flags, Scope]:
    """Return which documents are in scope, shape (documents,), and how that was decided.

    All that is filtered by is in memory: it is compared there, exactly, for every pipeline. The
    clause says the same to the tables, as far as a clause can: it may let in more, never less.
    """
    path = path.among(snapshot.paths)
    flags = _flags(snapshot, path, filters)
    clause, _ = path_where(path)
    filtered = not (path.is_all and filters.is_all)
    dates = dates_where(filters.since, filters.until)
    return frozen(flags), Scope(
        path=path.given,
        doc_types=filters.doc_types,
        in_scope=int(flags.sum()),
        total=len(snapshot.paths),
        clause=both(clause, kinds_where(filters.doc_types), dates),
        words="prefilter" if filtered else "",
        vectors="prefilter" if filtered and not fast else "",
        since=filters.since,
        until=filters.until,
        tags=filters.tags,
        entities=filters.entities,
    )


def _flags(snapshot: Snapshot, path: PathFilter, filters: Filters) -> Flags:
    size = len(snapshot.paths)
    flags = np.ones(size, dtype=np.bool_)
    if not path.is_all:
        flags &= _path_flags(snapshot.paths, path)
    if filters.doc_types:
        wanted = set(filters.doc_types)
        flags &= _flags_of((kind in wanted for kind in snapshot.kinds), size)
    if filters.since or filters.until:
        flags &= _flags_of(map(filters.lets_in_date, snapshot.dates), size)
    if filters.tags:
        flags &= _flags_of(map(filters.lets_in_tags, snapshot.tags), size)
    if filters.entities:
        flags &= _linked(snapshot, filters.entities)
    return flags


def _path_flags(paths: Sequence[str], path: PathFilter) -> Flags:
    """Return which of the paths, given in order, are let in: what begins otherwise is passed by."""
    flags = np.zeros(len(paths), dtype=np.bool_)
    for glob in path.globs:
        start = literal_start(glob)
        for row in range(bisect_left(paths, start), _end(paths, start)):
            flags[row] = flags[row] or path.matches(paths[row])
    if not path.globs:
        start = path.prefix + "/"
        flags[bisect_left(paths, start) : _end(paths, start)] = True
        file = bisect_left(paths, path.prefix)
        if paths[file : file + 1] == (path.prefix,):
            flags[file] = True
    return flags


def _end(paths: Sequence[str], start: str) -> int:
    """Return where the paths end that begin with `start`."""
    return bisect_left(paths, start[:-1] + chr(ord(start[-1]) + 1)) if start else len(paths)


def _flags_of(found: Iterable[bool], size: int) -> Flags:
    return np.fromiter(found, np.bool_, size)


def _linked(snapshot: Snapshot, entities: Sequence[str]) -> Flags:
    flags = np.zeros(len(snapshot.paths), dtype=np.bool_)
    for entity in entities:
        if entity in snapshot.links:
            flags[snapshot.links[entity].rows] = True
    return flags
