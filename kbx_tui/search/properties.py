"""Properties of pages, by which queries filter: `status:active`, `priority>2`, `due<2026-12`.

A value is compared as a date if it and the one asked for are dates, of which at least one has a
month, as a number if both are numbers, else as text, in any spelling. Only numbers and dates have
an order. Of a list, one value has to match.
"""

from __future__ import annotations

import operator
import re
from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from kbx_tui.index.arrays import ascending
from kbx_tui.index.lexical.bm25 import errors_in
from kbx_tui.index.stored_records import PAGES_READ
from kbx_tui.index.text_columns import CodeBuilder, CodedColumn, TextLists
from kbx_tui.knowledge.fields import property_key
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.evidence.scores import Rows
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.search.query.typed_filters import (
    DATE,
    NUMBER,
    OF_OTHER_PROGRAMS,
    TypedFilter,
    names_in,
)
from kbx_tui.search.request import MAX_QUERY

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
