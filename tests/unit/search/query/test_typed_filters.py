"""Filters typed in a query: what counts as one, what stays words, and adding and removing one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.query.filters import (
    KEYS,
    Key,
    TypedFilter,
    read_filters,
    with_filter,
    without_filter,
)

WORDS = [
    "rollback plan",
    "note: call Bob",
    "http://x/type:y",
    "error:5032",
    "bob@example.com",
    "type:",
    "tag: ops",
    "from: Bob",
    "@ noon",
    "subtype:meeting",
    "(type:meeting)",
    'type:""',
    '"type:meeting"',
    'he said "see type:meeting there"',
    "“tag:ops”",
    "Type:meeting",
    "@-",
    "  two  spaces  ",
    "",
]


@pytest.mark.parametrize("query", WORDS)
def test_everything_but_known_keys_with_a_value_stays_words(query: str) -> None:
    read = read_filters(query)
    assert read.text == query
    assert not read.filters
    assert not read.not_dates


@pytest.mark.parametrize(
    ("query", "text", "filters"),
    [
        ("type:meeting alice", "alice", ["type:meeting"]),
        ("what did @alice decide?", "what did decide?", ["@alice"]),
        ("@alice's plan, tag:ops, please", "plan, please", ["@alice", "tag:ops"]),
        ('plan tag:"road map" @"Alice Chen"', "plan", ['tag:"road map"', '@"Alice Chen"']),
        ("type:meeting,note x", "x", ["type:meeting,note"]),
        ("from:2026-03 to:2026-03-17", "", ["from:2026-03", "to:2026-03-17"]),
        ("in:memory/{a,b}/?.md", "", ['in:"memory/{a,b}/?.md"']),
        ("@person:alice-chen", "", ["@person:alice-chen"]),
        ('"type:note" type:note "x', '"type:note" "x', ["type:note"]),
    ],
)
def test_filters_are_taken_out_of_the_words(query: str, text: str, filters: list[str]) -> None:
    read = read_filters(query)
    assert read.text == text
    assert list(map(str, read.filters)) == filters


@pytest.mark.parametrize("query", ["from:Bob", "to:2026-13", "a from:soon b"])
def test_filter_by_date_without_a_date_stays_words_and_is_reported(query: str) -> None:
    read = read_filters(query)
    assert read.text == query
    assert len(read.not_dates) == 1


def test_filter_is_added_at_the_end_and_removed_where_it_stands() -> None:
    query = with_filter("rollback ", "tag", "road map")
    assert query == 'rollback tag:"road map"'
    assert with_filter("", "type", "note") == "type:note"
    assert without_filter("a type:note b @alice c", 0) == "a b @alice c"
    assert without_filter("a type:note b @alice c", 1) == "a type:note b c"
    with pytest.raises(IndexError):
        without_filter("a", 0)


values = st.text(st.characters(exclude_characters='"', exclude_categories=("C", "Z")), min_size=1)


@given(st.sampled_from([key for key in KEYS if key not in ("from", "to")]), values, st.text())
def test_added_filter_is_read_back(key: Key, value: str, query: str) -> None:
    query = query.replace("“", "")
    before = read_filters(query)
    after = read_filters(with_filter(query, key, value))
    if key == "@" and not (value[0].isalnum() or value[0] == "_"):
        return  # no name begins like this
    added = TypedFilter(key, (value,))
    is_first = query.count('"') % 2  # after a quotation mark that is not closed it would be text
    assert after.filters in ((*before.filters, added), (added, *before.filters))
    assert is_first or after.filters[-1] == added
    assert after.text.split() == before.text.split()


@given(st.text())
def test_any_text_can_be_read(query: str) -> None:
    read = read_filters(query)
    assert len(read.filters) == len(read.spans)
    for span, typed in zip(read.spans, read.filters, strict=True):
        assert typed.values
        assert read_filters(query[slice(*span)]).filters == (typed,)
