"""Dates and tags as the user writes them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.search.query.filters import Filters, Key, is_same_value


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


def test_any_tag_matches_regardless_of_spelling() -> None:
    filters = Filters.of(tags=["#Ops", "café"])
    assert filters.matches_tags(["ops"])
    assert filters.matches_tags(["x", "CAFE"])
    assert not filters.matches_tags(["opsy"])
    assert not filters.matches_tags([])


def test_missing_and_blank_filters_are_ignored() -> None:
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
