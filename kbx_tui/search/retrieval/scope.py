"""Scope: the documents that pass the filters of a search, found before anything is scored.

Properties of pages filter, too: `status:active`, `priority>2`, `due<2026-12`. A value is compared
as a date if it and the one asked for are dates, of which at least one has a month, as a number if
both are numbers, else as text, in any spelling. Only numbers and dates have an order. Of a list,
one value has to match.
"""

from __future__ import annotations

import operator
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from kbx_tui.embedding.embedder import Vector
from kbx_tui.errors import ConfigError
from kbx_tui.index.arrays import ascending
from kbx_tui.index.lexical.bm25 import errors_in
from kbx_tui.index.path_filter import PathFilter, literal_prefix
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.stored_records import PAGES_READ
from kbx_tui.index.text_columns import CodeBuilder, CodedColumn, TextColumn, TextLists
from kbx_tui.index.vectors.vector_lists import VectorLists
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.knowledge.fields import property_key
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.search.evidence.evidence import Scope
from kbx_tui.search.evidence.scores import Flags, LinkedDocuments, Rows, Scores, frozen, highest
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.search.query.typed_filters import (
    DATE,
    NUMBER,
    OF_OTHER_PROGRAMS,
    TypedFilter,
    names_in,
)
from kbx_tui.search.request import MAX_QUERY, Filters

BY_WORDS, BY_MEANING = 1000, 5000
"""Number of documents taken by BM25 and by meaning, for each variant of the query. With 1,000 by
meaning, documents were missed that only both together put among the best (docs/scale.md)."""
LINKED = 10_000
"""Number of documents taken by links to the entities found, best entity first; of the entity that
exceeds it, the documents with the highest BM25."""

_NOBODY: Mapping[str, Sequence[Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScopedDocuments:
    flags: Flags
    scope: Scope
    rows: Rows
    paths: Sequence[str]
    titles: Sequence[str]
    dates: Sequence[str]
    kinds: Sequence[str]

    @classmethod
    def of(cls, snapshot: Snapshot, flags: Flags, scope: Scope) -> Self:
        rows = np.flatnonzero(flags)
        columns = (snapshot.paths, snapshot.titles, snapshot.dates, snapshot.kinds)
        if len(rows) == len(flags):
            return cls(flags, scope, rows, *columns)
        return cls(flags, scope, rows, *(_taken(column, rows) for column in columns))

    @classmethod
    def some(cls, snapshot: Snapshot, rows: Rows, scope: Scope) -> Self:
        flags = np.zeros(len(snapshot.paths), np.bool_)
        flags[rows] = True
        return cls.of(snapshot, frozen(flags), scope)


def find_scope(
    snapshot: Snapshot,
    path: PathFilter,
    filters: Filters | None = None,
    named: Mapping[str, Sequence[str]] = _NOBODY,
    rows_with: Callable[[TypedFilter], Rows] = lambda _: np.empty(0, np.int64),
    cited: Mapping[str, Sequence[int]] = _NOBODY,
) -> tuple[Flags, Scope]:
    """Return which documents are in scope, shape (documents,), and the filters with their counts.

    `named` has the ids of the entities with each name in a typed filter. `rows_with` returns the
    documents that a filter by words, speaker or property matches, and `cited` has those that the
    name of no entity means, such as a citation key. Words in quotation marks that no document in
    scope has are ignored. All filtered columns are in memory; no table is read.
    """
    filters = filters or Filters()
    flags = _flags(snapshot, path, filters)
    unmatched, emptied_by = [], None
    for number, typed in enumerate(filters.typed):
        was_empty = not flags.any()
        matching = _typed_flags(snapshot, typed, named, rows_with)
        if typed.key == "@":
            matching[[row for name in typed.values for row in cited.get(name, ())]] = True
        if typed.key == '"' and not (flags & matching).any():
            unmatched.append(str(typed))
        else:
            flags &= ~matching if typed.is_negated or typed.key == "-" else matching
        if not (was_empty or flags.any()):
            emptied_by = number
    muted = [snapshot.row_of[name] for name in filters.muted_documents if name in snapshot.row_of]
    left_out = int(np.count_nonzero(flags[muted]))
    flags[muted] = False
    total, in_scope = len(flags), int(np.count_nonzero(flags))
    scope = Scope(
        path.text,
        filters,
        in_scope,
        total,
        unmatched_phrases=tuple(unmatched),
        left_out=left_out,
        emptied_by=emptied_by,
    )
    return frozen(flags), scope


def _titled(titles: Sequence[str], wanted: Sequence[str]) -> Flags:
    words = [frozenset(folded_words(each)) for each in wanted]
    of_titles = (frozenset(folded_words(title)) for title in titles)
    return np.array([any(each <= title for each in words) for title in of_titles], np.bool_)


def _typed_flags(
    snapshot: Snapshot,
    typed: TypedFilter,
    named: Mapping[str, Sequence[str]],
    rows_with: Callable[[TypedFilter], Rows],
) -> Flags:
    values, path, filters = typed.values, PathFilter(), Filters()
    match typed.key if typed.operator == ":" else "":
        case "title":
            return _titled(snapshot.titles, values)
        case "newest first":  # it orders documents, and leaves none out
            pass
        case "from" | "to" if typed.lacks_date:
            return np.zeros(len(snapshot.paths), np.bool_)
        case "type":
            filters = Filters.of(doc_types=values)
        case "tag":
            filters = Filters.of(tags=values)
        case "from":
            filters = Filters.of(since=values[0])
        case "to":
            filters = Filters.of(until=values[0])
        case "in":
            path = _path_below_root(values[0]).or_at_any_depth(snapshot.paths)
        case "@":
            ids = [found for name in values for found in named.get(name, ())]
            filters = Filters(entities=tuple(ids) or values)
        case _:
            flags = np.zeros(len(snapshot.paths), np.bool_)
            flags[rows_with(typed)] = True
            return flags
    return _flags(snapshot, path, filters)


def _path_below_root(text: str) -> PathFilter:
    try:
        return PathFilter.parse(text, Path("/"))  # a leading slash means the root of the base
    except ConfigError:
        return PathFilter(text, prefix=text)


def _flags(snapshot: Snapshot, path: PathFilter, filters: Filters) -> Flags:
    size = len(snapshot.paths)
    path = path.among(snapshot.paths)
    flags = np.ones(size, np.bool_) if path.is_all else _path_flags(snapshot.paths, path)
    if filters.doc_types:
        flags &= _matching(snapshot.kinds, filters.doc_types.__contains__)
    if filters.since or filters.until:
        flags &= _matching(snapshot.dates, filters.matches_date)
    if filters.tags:
        flags &= np.fromiter(map(filters.matches_tags, snapshot.tags), np.bool_, size)
    if filters.entities:
        linked = np.zeros(size, np.bool_)
        for links in map(snapshot.links.get, filters.entities):
            if links is not None:
                linked[links.rows] = True
        flags &= linked
    return flags


def _matching(column: Sequence[str], matches: Callable[[str], bool]) -> Flags:
    return CodedColumn.of(column).flags(matches)


def _taken(column: Sequence[str], rows: Rows) -> Sequence[str]:
    if isinstance(column, TextColumn | CodedColumn):
        return column.take(rows)
    return tuple(map(column.__getitem__, rows.tolist()))


def _path_flags(paths: Sequence[str], path: PathFilter) -> Flags:
    """Return which of the sorted paths match; only those with its literal prefix are compared."""
    flags = np.zeros(len(paths), dtype=np.bool_)
    for glob in path.globs:
        start = literal_prefix(glob)
        first, end = bisect_left(paths, start), _end(paths, start)
        matches = np.fromiter(map(path.matches, paths[first:end]), np.bool_, end - first)
        flags[first:end] |= matches
    if not path.globs:
        start = path.prefix + "/"
        flags[bisect_left(paths, start) : _end(paths, start)] = True
        file = bisect_left(paths, path.prefix)
        if file < len(paths) and paths[file] == path.prefix:
            flags[file] = True
    return flags


def _end(paths: Sequence[str], start: str) -> int:
    return bisect_left(paths, start[:-1] + chr(ord(start[-1]) + 1)) if start else len(paths)


@dataclass(frozen=True, slots=True)
class WideScope:
    """A scope of more than `vector_lists.EXACT_CHUNKS` chunks: too many to compare all by meaning.

    Its candidates are scored in full, exactly as in any other scope, and only they can be results:
    - documents with the highest BM25, for each variant of the query: of all, and of those of the
      time that the query asks for;
    - those linked to the entities found;
    - known items, and documents that the caller asks about;
    - those likely nearest in meaning, by the inverted file of the vectors (`vector_lists`).

    So only a document that neither words nor links find can be missed.
    """

    scoped: ScopedDocuments
    lists: VectorLists
    vectors: VectorMatrix
    share: float
    """Share of the base's chunks that is in scope, 0..1."""

    def by_words(self, bm25: Iterable[Scores], preferred: Flags) -> Rows:
        """Return the documents in scope with the highest BM25, and the best of the preferred."""
        found = []
        for scores in bm25:
            rows = np.flatnonzero(scores > 0.0)
            rows = rows[self.scoped.flags[rows]]
            found.append(highest(scores, rows, BY_WORDS))
            found.append(highest(scores, rows[preferred[rows]], BY_WORDS))
        return np.concatenate(found)

    def by_links(self, links: Sequence[LinkedDocuments], bm25: Scores) -> Rows:
        taken, room = np.zeros(len(self.scoped.flags), np.bool_), LINKED
        for linked in links:
            rows = linked.rows[self.scoped.flags[linked.rows] & ~taken[linked.rows]]
            taken[highest(bm25, rows, room) if room else rows[:0]] = True
            room = max(room - len(rows), 0)
        return np.flatnonzero(taken)

    def by_meaning(self, query: Vector) -> Rows:
        return self.vectors.best_documents(query, self.scoped.flags, BY_MEANING, self.share)

    def candidates(
        self, snapshot: Snapshot, rows: Sequence[Rows], also: Sequence[str] = ()
    ) -> ScopedDocuments:
        """Return the scope restricted to `rows`, which may repeat, and the paths in `also`."""
        distinct = ascending(np.concatenate(rows))
        wanted = {row: path for path in also if (row := snapshot.row_of.get(path)) is not None}
        added = {
            row: path
            for row, path in wanted.items()
            if self.scoped.flags[row] and row not in distinct
        }
        scope = replace(
            self.scoped.scope,
            candidates=len(distinct),
            recall=float(self.lists.recall[0]),
            asked_about=frozenset(added.values()),
        )
        return ScopedDocuments.some(
            snapshot, np.union1d(distinct, np.array(list(added), np.int64)), scope
        )


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    ":": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DAY = len("2026-03-17")


KEYS_KEPT = 8
"""Properties whose values are kept, those used last."""


class PropertyValues(NamedTuple):
    """The values of one property; a document has one for each entry of a list."""

    rows: Rows
    texts: CodedColumn
    """The value of each of `rows`."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of documents' values that are the same, by value."""
        counts = np.bincount(self.texts.codes, minlength=len(self.texts.values))
        return dict(zip(self.texts.values, counts.tolist(), strict=True))


class Properties:
    """The properties of the documents of one generation."""

    def __init__(self, stored: TextLists, keys: CodedColumn) -> None:
        """`stored` has a text `key=value` (`fields.properties_of`) for each value of a document.

        `keys` has the distinct ones of these keys, joined.
        """
        self._stored, self._keys_of = stored, keys
        self._values = LruCache[str, PropertyValues](KEYS_KEPT)

    @cached_property
    def keys(self) -> frozenset[str]:
        distinct = map(self._keys_of.values.__getitem__, ascending(self._keys_of.codes).tolist())
        return frozenset(key for each in distinct for key in TextLists.split(each))

    @cached_property
    def words_of_keys(self) -> frozenset[str]:
        return frozenset(word for key in self.keys for word in key.split("_"))

    def named_in(self, query: str) -> tuple[str, ...]:
        """Return the names in a query, as typed, that are those of properties."""
        names = dict.fromkeys(name for name, _ in names_in(query[:MAX_QUERY]))
        return tuple(name for name in names if property_key(name) in self.keys)

    def misspelt(self, query: str) -> tuple[tuple[str, str], ...]:
        """Return the words of a query that name a property wrongly, so that they filter by none.

        After each comes the key of the property that is probably meant, empty if none is near:
        `due<2026-12` can hardly be meant as words.
        """
        found = []
        for name, word in names_in(query[:MAX_QUERY]):
            key = property_key(name)
            if key in self.keys or name in OF_OTHER_PROGRAMS:
                continue
            most = errors_in(key)
            near = most and process.extractOne(
                key, sorted(self.keys), scorer=OSA.distance, score_cutoff=most
            )
            if near or (len(name) > 1 and word[0] != "-" and word[len(name)] != ":"):
                found.append((word, near[0] if near else ""))
        return tuple(found)

    def values(self, name: str) -> PropertyValues:
        key = property_key(name)
        if (found := self._values.get(key)) is None:
            rows, values = array("i"), CodeBuilder()
            for row, value in self._stored.starting(f"{key}=") if key in self.keys else ():
                rows.append(row)
                values.append(value)
            found = PropertyValues(np.array(rows, np.int64), values.column())
            self._values.put(key, found)
        return found

    def pages(self, key: str) -> list[int]:
        """Return the rows of some documents with a property."""
        return list(map(int, np.unique(self.values(key).rows)[:PAGES_READ]))

    def rows(self, typed: TypedFilter) -> Rows:
        """Return the documents that match a filter, whether it is negated or not."""
        rows, texts = self.values(typed.key)
        return rows[texts.flags(matcher(typed.operator, typed.values))]


def matcher(compared: str, wanted: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether a value compares so with one of those asked for.

    They are read once, as a query may ask for hundreds and pages have thousands.
    """
    holds = _HOLDS[compared]
    dates, numbers, texts = list[str](), set[float](), set[tuple[str, ...]]()
    for text in wanted:
        dates += [text] if DATE.fullmatch(text) else []
        numbers |= set() if (number := _number(text)) is None else {number}
        texts |= {_words(text)} if compared == ":" else set()

    def is_matching(value: str) -> bool:
        day, number = value[:_DAY], _number(value)
        if DATE.fullmatch(day) and any(
            holds(day[: len(date)], date) for date in dates if "-" in day or "-" in date
        ):
            return True
        if number is not None and any(holds(number, asked) for asked in numbers):
            return True
        return _words(value) in texts

    return is_matching


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"[\s_-]+", fold(text)))


def _number(text: str) -> float | None:
    number = float(text) if NUMBER.fullmatch(text) else float("inf")
    return number if abs(number) < float("inf") else None
