"""The days that follow a period."""

from __future__ import annotations

import pytest

from kbx_tui.search.query.periods import Period


@pytest.mark.parametrize(
    ("first", "last", "after"),
    [
        ("2026-03-17", "2026-03-17", "18 to 24 March 2026"),
        ("2026-03-01", "2026-03-31", "1 April to 1 May 2026"),
        ("2025-01-01", "2025-12-31", "January 2026"),
    ],
)
def test_days_after_are_as_many_as_those_of_the_period_within_limits(
    first: str, last: str, after: str
) -> None:
    following = Period(first, last).after(7, 31)
    assert following is not None
    assert following.words == after


@pytest.mark.parametrize(("first", "last"), [("2026-03-01", ""), ("", "2026-02-28")])
def test_nothing_follows_a_period_with_an_open_end(first: str, last: str) -> None:
    assert Period(first, last).after(7, 31) is None
