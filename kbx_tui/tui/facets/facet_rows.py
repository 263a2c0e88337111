"""The facets as rows of a list, and what choosing one does to the query. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kbx_tui.safe_text import safe_line
from kbx_tui.search.query.filters import is_same_value
from kbx_tui.search.query.typed_filters import (
    Key,
    TypedFilter,
    read_filters,
    with_filter,
    without_filter,
)

if TYPE_CHECKING:
    from kbx_tui.search.links.link_records import LinkedDocument
    from kbx_tui.search.results.facets import Facets

Kind = Key | Literal["linked", "dates"]
"""What a row is: the key of a filter, a document that others link to, or the strip of dates."""


@dataclass(frozen=True, slots=True)
class FacetRow:
    """A value to narrow to, a document to read, or the strip of dates."""

    kind: Kind
    value: str
    """Of the filter, or the path of the document."""
    label: str
    count: int
    """Results with it, or documents that link to it."""
    is_on: bool = False
    """Whether the query is narrowed to it."""


def facet_rows(facets: Facets, query: str) -> tuple[FacetRow, ...]:
    """Return the values of the facets; those that a filter of the query names alone are on."""
    on = [each for each in read_filters(query).filters if len(each.values) == 1]
    return tuple(
        FacetRow(
            value.key,
            value.value,
            safe_line(value.label),
            value.count,
            is_on=any(_is_for(each, value.key, value.value) for each in on),
        )
        for value in facets.values
    )


def linked_rows(linked: Sequence[LinkedDocument]) -> tuple[FacetRow, ...]:
    """Return the documents that others link to."""
    return tuple(
        FacetRow("linked", each.path, safe_line(each.title or each.path), each.count)
        for each in linked
    )


def narrowed(query: str, row: FacetRow) -> str:
    """Return a query narrowed to a value, or without that filter if it is on."""
    if row.kind == "linked" or row.kind == "dates":  # mypy narrows by `==` alone
        return query
    if row.is_on:
        return _without(query, row.kind, row.value)
    return with_filter(query, row.kind, row.value)


def narrowed_to_span(query: str, first: str, last: str) -> str:
    """Return a query narrowed to the dates from `first` to `last`, in place of other dates."""
    query = _without(_without(query, "from"), "to")
    return with_filter(with_filter(query, "from", first), "to", last)


def _without(query: str, key: Key, value: str = "") -> str:
    """Return a query without its filters of a key, those of one value if there is one."""
    filters = read_filters(query).filters
    for number in reversed(range(len(filters))):
        each = filters[number]
        if each.key == key and (not value or _is_for(each, key, value)):
            query = without_filter(query, number)
    return query


def _is_for(typed: TypedFilter, key: Key, value: str) -> bool:
    """Return whether a filter is for this value and no other, in any spelling."""
    is_single = typed.key == key and len(typed.values) == 1
    return is_single and is_same_value(key, typed.values[0], value)
