"""Completion of a filter at the end of a query, as the user types it. Pure.

The most frequent values come first, paths one level at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.index.paths.path_completion import complete
from kbx_tui.knowledge.folding import fold, slug
from kbx_tui.search.query.filters import tag_keys
from kbx_tui.search.query.typed_filters import DATE, UnfinishedFilter

if TYPE_CHECKING:
    from kbx_tui.search.index_generation import IndexGeneration

_DATE_SO_FAR = re.compile(r"\d{1,4}(-\d{0,2}){0,2}")


@dataclass(frozen=True, slots=True)
class FilterCompletions:
    """How a filter may go on."""

    values: tuple[str, ...]
    """Values that begin with what is typed, best first."""
    is_whole: bool
    """Whether what is typed is a value already, or no value begins like it."""


def complete_filter(
    generation: IndexGeneration, unfinished: UnfinishedFilter, limit: int
) -> FilterCompletions:
    """Return the completions of a filter, at most `limit`."""
    typed = unfinished.value
    values = list(_values(generation, unfinished, limit))
    if unfinished.key in ("from", "to"):
        is_part = bool(_DATE_SO_FAR.fullmatch(typed)) and not DATE.fullmatch(typed)
        return FilterCompletions(tuple(values[:limit]), is_whole=not is_part)
    if unfinished.key == "@":
        is_whole = bool(typed) and bool(generation.entity_names.named(typed))
    elif unfinished.key == "in":
        is_whole = typed.endswith("/") or bool({typed, f"{typed}/"} & set(values))
    else:
        is_whole = fold(typed) in map(fold, values)
    longer = tuple(value for value in values if value.startswith(typed) and value != typed)
    return FilterCompletions(longer[:limit], is_whole or not values)


def _values(generation: IndexGeneration, unfinished: UnfinishedFilter, limit: int) -> Iterator[str]:
    """Yield the values that begin with what is typed, perhaps in another case."""
    typed, snapshot = unfinished.value, generation.snapshot
    match unfinished.key:
        case "type":
            yield from _frequent(filter(None, snapshot.kinds), typed)
        case "tag":
            keys = (key for tags in snapshot.tags for tag in tags for key in tag_keys(tag))
            yield from _frequent(keys, typed)
        case "from" | "to":
            yield from _dates(snapshot.dates, typed)
        case "in":
            yield from complete(snapshot.paths, typed, Path("/"), limit)
        case "@":
            named = generation.entity_names.find(typed, limit) if typed else []
            names = (each.name if unfinished.is_quoted else slug(each.name) for each in named)
            yield from (name for name in dict.fromkeys(names) if fold(name).startswith(fold(typed)))


def _dates(dates: Iterable[str], typed: str) -> Iterator[str]:
    """Yield the years that have documents, or the months or days in what is typed, newest first."""
    parts = typed.count("-") + (1 if not DATE.fullmatch(typed) else 2)
    longer = {"-".join(date.split("-")[:parts]) for date in dates if date.startswith(typed)}
    yield from sorted(longer - {typed}, reverse=True)


def _frequent(values: Iterable[str], typed: str) -> Iterator[str]:
    counts = Counter(values)
    start = fold(typed)
    found = [value for value in counts if fold(value).startswith(start)]
    yield from sorted(found, key=lambda value: (-counts[value], value))
