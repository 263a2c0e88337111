"""Periods: stretches of days, by which documents are preferred or filtered. Pure."""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.knowledge.calendar_names import MONTH_NAMES

LAST_ISO_DATE = "9999-12-31"
ISO_LENGTH = len(LAST_ISO_DATE)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both inclusive, as ISO dates; an empty end is open."""

    first: str
    last: str

    def contains(self, day: str) -> bool:
        """Return whether an ISO date is in the period; an empty one, for no date, is not."""
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
            return f"since {_day_words(self.first)}"
        if not self.first:
            return f"until {_day_words(self.last)}"
        first, last = date.fromisoformat(self.first), date.fromisoformat(self.last)
        if first == last:
            return _day_words(self.first)
        if first.day == 1 and last + DAY == _next_month(last):
            return _months_words(first, last)
        start = f"{first.day}"
        if (first.year, first.month) != (last.year, last.month):
            start += f" {_month_name(first)}"
        if first.year != last.year:
            start += f" {first.year}"
        return f"{start} to {_day_words(self.last)}"


def days(first: date, last: date) -> Period:
    """Return the period between two days, both inclusive."""
    return Period(first.isoformat(), last.isoformat())


def month_days(year: int, first_month: int, last_month: int) -> tuple[date, date]:
    """Return the first and last day of some months of a year."""
    last_day = monthrange(year, last_month)[1]
    return date(year, first_month, 1), date(year, last_month, last_day)


def week_of(day: date) -> tuple[date, date]:
    """Return Monday and Sunday of the week of a day (ISO 8601)."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


class DocumentDates:
    """The dates of the documents of a base, to see which are in a period."""

    def __init__(self, dates: Sequence[str]) -> None:
        """`dates` are ISO dates by row, empty for documents without one."""
        self._by_row = dates if isinstance(dates, CodedColumn) else CodedColumn.of(dates)
        codes = np.unique(self._by_row.codes).tolist()
        self._dates = sorted(filter(None, map(self._by_row.values.__getitem__, codes)))

    def flags_in(self, period: Period) -> NDArray[np.bool_]:
        """Return which documents have their date in a period, shape (documents,)."""
        first, last = period.first, period.last or LAST_ISO_DATE
        return self._by_row.flags(lambda day: bool(day) and first <= day[:ISO_LENGTH] <= last)

    def any_in(self, period: Period) -> bool:
        """Return whether a document has its date in a period."""
        index = bisect_left(self._dates, period.first)
        return period.contains(self._dates[index]) if index < len(self._dates) else False

    @property
    def first_year(self) -> int | None:
        """The year of the oldest document; None without dates."""
        return int(self._dates[0][:4]) if self._dates else None


def _months_words(first: date, last: date) -> str:
    year = f"{last.year}"
    if (first.month, last.month) == (1, 12):
        return year if first.year == last.year else f"{first.year} to {year}"
    if first.year != last.year:
        return f"{_month_name(first)} {first.year} to {_month_name(last)} {year}"
    if first.month == last.month:
        return f"{_month_name(first)} {year}"
    if last.month - first.month == 2 and first.month % 3 == 1:
        return f"Q{last.month // 3} {year}"
    return f"{_month_name(first)} to {_month_name(last)} {year}"


def _day_words(day: str) -> str:
    written = date.fromisoformat(day)
    return f"{written.day} {_month_name(written)} {written.year}"


def _month_name(day: date) -> str:
    return MONTH_NAMES[day.month - 1].capitalize()


def _next_month(day: date) -> date:
    return date(day.year, day.month, monthrange(day.year, day.month)[1]) + DAY
