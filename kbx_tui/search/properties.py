"""Properties of pages, by which queries filter: `status:active`, `priority>2`, `due<2026-12`.

A value is compared as a date if it and the one asked for are dates, of which at least one has a
month, as a number if both are numbers, else as text, in any spelling. Only numbers and dates have
an order. Of a list, one value has to match.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from itertools import islice
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from kbx_tui.index.lexical.bm25 import errors_in
from kbx_tui.index.stored_records import PAGES_READ
from kbx_tui.index.text_columns import TextLists
from kbx_tui.knowledge.fields import property_key
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.evidence.scores import Flags
from kbx_tui.search.request import DATE, MAX_QUERY, NUMBER, TypedFilter, names_in

_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    ":": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DAY = len("2026-03-17")


class Properties:
    """The properties of the documents of one generation."""

    def __init__(self, stored: TextLists) -> None:
        """`stored` has a text `key=value` (`fields.properties_of`) for each value of a document."""
        self._stored = stored

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of values of each property, by key."""
        return Counter(each.partition("=")[0] for texts in self._stored for each in texts)

    def named_in(self, query: str) -> tuple[str, ...]:
        """Return the names in a query, as typed, that are those of properties."""
        names = dict.fromkeys(name for name, _ in names_in(query[:MAX_QUERY]))
        return tuple(name for name in names if property_key(name) in self.counts)

    def misspelt(self, query: str) -> tuple[tuple[str, str], ...]:
        """Return the words of a query that would filter by a property if spelt like a known one,
        each with the key of that."""
        found = []
        for name, word in names_in(query[:MAX_QUERY]):
            key = property_key(name)
            if key not in self.counts and (most := errors_in(key)):
                near = process.extractOne(
                    key, list(self.counts), scorer=OSA.distance, score_cutoff=most
                )
                found += [(word, near[0])] if near else []
        return tuple(found)

    def values(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield the values of a property with the rows of their documents."""
        start = f"{property_key(name)}="
        for row, texts in self._stored.holding(start):
            yield from ((row, text[len(start) :]) for text in texts if text.startswith(start))

    def pages(self, key: str) -> list[int]:
        """Return the rows of some documents with a property."""
        return list(islice(dict.fromkeys(row for row, _ in self.values(key)), PAGES_READ))

    def flags(self, typed: TypedFilter) -> Flags:
        """Return which documents match a filter, whether it is negated or not."""
        flags = np.zeros(len(self._stored), np.bool_)
        is_matching = cache(matcher(typed.operator, typed.values))
        for row, value in self.values(typed.key):
            flags[row] |= is_matching(value)
        return flags


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
