"""Dates and tags as the user writes them; filters typed in a query, and adding and removing one."""

import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.search.query.typed_filters import (
    KEYS,
    Key,
    TypedFilter,
    read_filters,
    with_filter,
    without_filter,
)
from kbx_tui.search.request import Filters, is_same_value


@pytest.mark.parametrize(
    ("since", "until", "date", "expected"),
    [
        ("2026-03", None, "2026-03-01", True),
        ("2026-03", None, "2026-02-28", False),
        (None, "2026-03", "2026-03-31", True),
        (None, "2026-03", "2026-04-01", False),
        ("2026-03-17", "2026-03-17", "2026-03-17", True),
        ("2025", "2025", "2025-12-31", True),
        (None, None, "", True),
        ("2025", None, "", False),
        (None, "2025", "", False),
        ("2026-03-17", "2026-03-18", "2026-03", True),
        ("2026-03-17", "2026-03-18", "2026", True),
        ("2026-04", None, "2026-03", False),
        (None, "2026-02-28", "2026-03", False),
        ("2025-12-31", "2026-01-01", "2026", True),
    ],
)
def test_date_range_includes_both_ends(
    since: str | None, until: str | None, date: str, expected: bool
) -> None:
    assert Filters.of(since=since, until=until).matches_date(date) is expected


days = st.dates(datetime.date(1990, 1, 1), datetime.date(2040, 1, 1))


@given(days, days, days)
def test_full_dates_compare_as_dates(
    since: datetime.date, until: datetime.date, date: datetime.date
) -> None:
    filters = Filters.of(since=since.isoformat(), until=until.isoformat())
    assert filters.matches_date(date.isoformat()) is (since <= date <= until)


@pytest.mark.parametrize("text", ["yesterday", "2026-13", "2026-3-1", "17.03.2026", "2026-00-10"])
def test_malformed_date_is_rejected(text: str) -> None:
    with pytest.raises(ConfigError, match="must be a date"):
        Filters.of(since=text)
    with pytest.raises(ConfigError, match="must be a date"):
        Filters.of(until=text)


def test_any_tag_matches_regardless_of_spelling_and_blank_filters_are_ignored() -> None:
    filters = Filters.of(tags=["#Ops", "café"])
    assert filters.matches_tags(["ops"])
    assert filters.matches_tags(["x", "CAFE"])
    assert not filters.matches_tags(["opsy"])
    assert not filters.matches_tags([])

    assert Filters.of() == Filters()
    assert Filters.of(since=" ", tags=[]) == Filters()
    assert Filters.of(entities=["person:a"]) != Filters()


@pytest.mark.parametrize(
    ("key", "one", "other", "is_same"),
    [
        ("type", "Meeting", "meeting", True),
        ("type", "Open Item", "open-item", True),
        ("tag", "#Ops", "ops", True),
        ("@", "Alice Chen", "alice-chen", True),
        ("@", "Alice", "Bob", False),
        ("in", "memory/A", "memory/a", False),
        ("from", "2026", "2026", True),
    ],
)
def test_values_are_the_same_in_any_spelling(key: Key, one: str, other: str, is_same: bool) -> None:
    assert is_same_value(key, one, other) is is_same


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
    '"..." OR ""',
    "grep -v at -5 degrees",
    "well-known",
    "a - b",
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
        ('"type:note" type:note "x', '"type:note" "x', ['"type:note"', "type:note"]),
    ],
)
def test_filters_are_taken_out_of_the_words(query: str, text: str, filters: list[str]) -> None:
    read = read_filters(query)
    assert read.text == text
    assert list(map(str, read.filters)) == filters


@pytest.mark.parametrize("query", ["from:Bob", "to:2026-13", "a from:soon b"])
def test_filter_by_date_without_a_date_is_one_that_lacks_it(query: str) -> None:
    (typed,) = read_filters(query).filters
    assert typed.lacks_date
    assert str(typed) in query


def test_filter_is_added_at_the_end_and_removed_where_it_stands() -> None:
    query = with_filter("rollback ", "tag", "road map")
    assert query == 'rollback tag:"road map"'
    assert with_filter("", "type", "note") == "type:note"
    assert without_filter("a type:note b @alice c", 0) == "a b @alice c"
    assert without_filter("a type:note b @alice c", 1) == "a type:note b c"
    with pytest.raises(IndexError):
        without_filter("a", 0)


values = st.text(st.characters(exclude_characters='"', exclude_categories=("C", "Z")), min_size=1)


KEYS_OF_TEXT = [key for key in KEYS if key not in ("from", "to", '"', "newest first")]


@example("-", "tag:0", "")  # a word to leave out, and no filter by tag
@example("-", "status<0", "")
@example("type", ".", '"')  # not the quoted words `" type:"`
@given(st.sampled_from(KEYS_OF_TEXT), values, st.text())
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


@pytest.mark.parametrize(
    ("query", "text", "filters"),
    [
        ('"rollback plan" alice', '"rollback plan" alice', [('"', ("rollback plan",))]),
        ("“rollback plan”", "“rollback plan”", [('"', ("rollback plan",))]),
        ('"type:meeting"', '"type:meeting"', [('"', ("type:meeting",))]),
        ('"a b" OR "c"', '"a b" OR "c"', [('"', ("a b", "c"))]),
        ('when did Jo start to read "The Lean"?', 'when did Jo start to read "The Lean"?', []),
        ("kubernetes -edge", "kubernetes", [("-", ("edge",))]),
        ('on call -"van keys".', 'on call -"van keys".', [('"', ("van keys",))]),
        ('on call -"van keys"', "on call", [("-", ("van keys",))]),
        ("title:budget money", "money", [("title", ("budget",))]),
    ],
)
def test_words_narrow_the_documents(
    query: str, text: str, filters: list[tuple[Key, tuple[str, ...]]]
) -> None:
    read = read_filters(query)
    assert read.text == text
    assert [(each.key, each.values) for each in read.filters] == filters
    assert read_filters(" ".join(map(str, read.filters))).filters == read.filters


@given(st.text())
def test_any_text_can_be_read(query: str) -> None:
    read = read_filters(query)
    assert len(read.filters) == len(read.spans)
    for span, typed in zip(read.spans, read.filters, strict=True):
        assert typed.values
        assert read_filters(query[slice(*span)]).filters == (typed,)


def test_filter_of_another_program_is_cut_unless_it_is_a_property() -> None:
    read = read_filters("who:ada type:note after:2026-03, fees error:5032 since://x")
    assert read.text == "fees error:5032 since://x"
    assert [str(each) for each in read.filters] == ["type:note"]
    assert read.unknown == (("who:ada", "@ada or said:@ada"), ("after:2026-03,", "from:2026-03"))
    assert without_filter("who:ada type:note fees", 0) == "who:ada fees"
    assert read_filters("who:ada", ("who",)).filters == (TypedFilter("who", ("ada",)),)
