"""Periods: stretches of days, by which documents are preferred or filtered. Pure."""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.text_columns import CodedColumn
from kbx_tui.knowledge.dates import MONTH_NAMES

LAST_ISO_DATE = "9999-12-31"
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both inclusive, as ISO dates; an empty end is open."""

    first: str
    last: str

    def contains(self, day: str) -> bool:
        return bool(day) and self.first <= day <= (self.last or LAST_ISO_DATE)

    def after(self, least: int, most: int) -> Period | None:
        """Return the days after the period, as many as it has, within these limits.

        None where an end is open: `before June` does not ask for June.
        """
        if not (self.first and self.last):
            return None
        last = date.fromisoformat(self.last)
        length = (last - date.fromisoformat(self.first)).days + 1
        return days(last + DAY, last + min(max(length, least), most) * DAY)

    @property
    def words(self) -> str:
        """The period in words: `March 2026`, `16 to 22 November 2026`, `since 1 March 2026`."""
        if not self.last:
            return f"since {_day_words(date.fromisoformat(self.first))}"
        last = date.fromisoformat(self.last)
        if not self.first:
            return f"until {_day_words(last)}"
        first = date.fromisoformat(self.first)
        if first == last:
            return _day_words(last)
        if first.day == 1 and (last + DAY).day == 1:
            return _months_words(first, last)
        if first.year != last.year:
            return f"{_day_words(first)} to {_day_words(last)}"
        month = "" if first.month == last.month else f" {_month_name(first)}"
        return f"{first.day}{month} to {_day_words(last)}"


def days(first: date, last: date) -> Period:
    return Period(first.isoformat(), last.isoformat())


def month_days(year: int, first_month: int, last_month: int) -> tuple[date, date]:
    last_day = monthrange(year, last_month)[1]
    return date(year, first_month, 1), date(year, last_month, last_day)


def week_of(day: date) -> tuple[date, date]:
    monday = day - day.weekday() * DAY
    return monday, monday + 6 * DAY


class DocumentDates:
    def __init__(self, dates: Sequence[str]) -> None:
        """`dates` are ISO dates by row, empty for documents without one."""
        self._by_row = dates if isinstance(dates, CodedColumn) else CodedColumn.of(dates)
        codes = np.unique(self._by_row.codes).tolist()
        self._dates = sorted(filter(None, map(self._by_row.values.__getitem__, codes)))

    def flags_in(self, period: Period) -> NDArray[np.bool_]:
        return self._by_row.flags(lambda day: period.contains(day[: len(LAST_ISO_DATE)]))

    def any_in(self, period: Period) -> bool:
        index = bisect_left(self._dates, period.first)
        return period.contains(self._dates[index]) if index < len(self._dates) else False

    @property
    def first_year(self) -> int | None:
        return int(self._dates[0][:4]) if self._dates else None


def _months_words(first: date, last: date) -> str:
    start, end, year = _month_name(first), _month_name(last), last.year
    is_whole_years = (first.month, last.month) == (1, 12)
    if first.year != year:
        return (
            f"{first.year} to {year}" if is_whole_years else f"{start} {first.year} to {end} {year}"
        )
    if is_whole_years:
        return f"{year}"
    if start == end:
        return f"{end} {year}"
    is_quarter = last.month - first.month == 2 and first.month % 3 == 1
    return f"Q{last.month // 3} {year}" if is_quarter else f"{start} to {end} {year}"


def _day_words(day: date) -> str:
    return f"{day.day} {_month_name(day)} {day.year}"


def _month_name(day: date) -> str:
    return MONTH_NAMES[day.month - 1].capitalize()
