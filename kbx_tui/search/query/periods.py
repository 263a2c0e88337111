"""Periods of days, and the words of a query that mean one: `17 March`, `Q1`, `last week`. Pure.

A calendar date without a year is any of those days; `date_reading` chooses one. Dates counted from
today are of the past and the present only: a document about next week is written before it.
`3 years ago` is not read: it says when something happened, and documents tell it later.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.text_columns import CodedColumn
from kbx_tui.knowledge.dates import MONTH_NAMES, MONTH_NUMBERS, WEEKDAY_NUMBERS

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


_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_NTH = r"(?:st|nd|rd|th)?"
_TO = r"\s*(?:-|–|to)\s*"
_START, _END = r"(?:(?<![\w#/.,:£$€-])|(?<=\bmid-))", r"(?![\w/%-]|[.,:]\d)"
_CALENDAR_DATES = re.compile(
    rf"""{_START}(?:
      (?P<iso>{_YEAR}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)
    | (?P<slashes>{_YEAR}/(?:0[1-9]|1[0-2])/(?:0[1-9]|[12]\d|3[01]))
    | (?P<dots>\d{{1,2}}\.\d{{1,2}}\.{_YEAR})
    | (?:(?P<from_day>\d{{1,2}}){_NTH}(?:{_TO}|\s+and\s+))? (?P<day>\d{{1,2}}){_NTH} \s+ (?:of\s+)?
        (?P<day_month>{_MONTH})\b\.? (?:,?\s+(?:of\s+)?(?P<day_year>{_YEAR}))?
    | (?P<month_day>{_MONTH})\b\.? \s+ (?:(?P<month_from>\d{{1,2}}){_NTH}{_TO})?
        (?P<after_month>\d{{1,2}}){_NTH} (?:,?\s+(?P<month_day_year>{_YEAR}))?
    | (?P<month>{_MONTH})\b\.? ,?\s+ (?:of\s+)? (?P<month_year>{_YEAR})
    | (?:Q(?P<quarter>[1-4])|(?P<nth_quarter>first|second|third|fourth)\s+quarter(?:\s+of)?)
        (?:[\s/-]*(?P<quarter_year>{_YEAR}))?
    | (?P<year_of_quarter>{_YEAR})[\s-]?Q(?P<quarter_after>[1-4])
    | (?P<bare_month>{"|".join(MONTH_NAMES)})
    | (?P<bare_year>{_YEAR})
    ){_END}""",
    re.IGNORECASE | re.VERBOSE,
)
_TIME_OF_DAY = re.compile(r"[ T]\d{1,2}:\d\d")
_VERB_FOLLOWS = re.compile(r"\s+[a-z]")
_BEFORE_VERB = re.compile(r"\b(?:this|the\s+(?:first|last))\s+$", re.IGNORECASE)
_COUNTS = re.compile(
    r"(?:\s*(?:-|–|to|and|or)\s*\d+)?\s+(?:ms|[kmg]b|k?m|kg|tons?|miles|metres|meters|bytes|"
    r"characters|words|tokens|lines|rows|items|records|files|pages|documents|requests|messages|"
    r"users|people|customers|employees|times|(?:milli)?seconds|minutes|hours|days|weeks|"
    r"euros?|dollars?|percent)\b",
    re.IGNORECASE,
)
"""After a number that counts something: `in 2000 lines`, `march 3 miles`."""
_NTHS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A day, some days of a month, a month, a quarter or a year, where a query writes it."""

    start: int
    end: int
    """Span in the query."""
    year: int | None = None
    first_month: int = 1
    last_month: int = 12
    first_day: int | None = None
    last_day: int | None = None
    """Days of the month; None for a whole one."""
    is_bare: bool = False
    """Whether it is one word that may mean something else: `May`, `Q1`, `2026`."""

    @property
    def is_day_range(self) -> bool:
        """Whether it is several days of a month."""
        return self.first_day != self.last_day

    def within(self, year: int) -> tuple[date, date] | None:
        """Return the first and last day it means in a year; None for a 30 February."""
        if self.first_day is None or self.last_day is None:
            return month_days(year, self.first_month, self.last_month)
        try:
            first = date(year, self.first_month, self.first_day)
            last = date(year, self.last_month, self.last_day)
        except ValueError:
            return None
        return (first, last) if first <= last else None

    def with_year(self, year: int | None) -> Self:
        """Return the same in a year, unless it has one."""
        return self if self.year is not None else replace(self, year=year)


def find_calendar_dates(text: str) -> Iterator[CalendarDate]:
    """Yield the dates in a text, in order; none of them is impossible in every year."""
    for match in _CALENDAR_DATES.finditer(text):
        found = _calendar_date(match)
        if found is None or found.within(found.year or 2000) is None:  # 2000 has a 29 February
            continue
        is_log_line = _TIME_OF_DAY.match(text, found.end)
        if not (is_log_line or _is_verb(text, match) or _is_count(text, match)):
            yield found


def _calendar_date(match: re.Match[str]) -> CalendarDate | None:
    named = {name: text for name, text in match.groupdict().items() if text is not None}
    start, end = match.span()

    def of_month(
        month: str, year: str | None, first_day: str | None = None, last_day: str | None = None
    ) -> CalendarDate:
        number = MONTH_NUMBERS[month.lower()]
        days = None if last_day is None else (int(first_day or last_day), int(last_day))
        first, last = days or (None, None)
        return CalendarDate(start, end, int(year) if year else None, number, number, first, last)

    def of_quarter(number: int, year: str | None) -> CalendarDate:
        months = 3 * number - 2, 3 * number
        return CalendarDate(start, end, int(year) if year else None, *months, is_bare=not year)

    match named:
        case {"iso": text} | {"slashes": text}:
            year, month, *day = map(int, re.split("[-/]", text))
            first = day[0] if day else None
            return CalendarDate(start, end, year, month, month, first, first)
        case {"dots": text}:
            day_number, month, year = map(int, text.split("."))
            if not 1 <= month <= 12:
                return None
            return CalendarDate(start, end, year, month, month, day_number, day_number)
        case {"day_month": month, "day": day}:
            return of_month(month, named.get("day_year"), named.get("from_day"), day)
        case {"month_day": month, "after_month": day}:
            return of_month(month, named.get("month_day_year"), named.get("month_from"), day)
        case {"month": month, "month_year": year}:
            return of_month(month, year)
        case {"quarter_after": quarter, "year_of_quarter": year}:
            return of_quarter(int(quarter), year)
        case {"quarter": quarter}:
            return of_quarter(int(quarter), named.get("quarter_year"))
        case {"nth_quarter": nth}:
            return of_quarter(_NTHS.index(nth.lower()) + 1, named.get("quarter_year"))
        case {"bare_month": month}:
            return replace(of_month(month, None), is_bare=True)
        case {"bare_year": year}:
            return CalendarDate(start, end, int(year), is_bare=True)
    return None


def _is_verb(text: str, match: re.Match[str]) -> bool:
    """Return whether `may` is a verb: `the first 2 may fail`, `this may be wrong`."""
    month = match["day_month"] or match["month_day"] or match["bare_month"]
    if month != "may" or match["day_year"] or match["month_day_year"]:
        return False
    if not _VERB_FOLLOWS.match(text, match.end()):
        return False
    start = match.start()
    return not match["bare_month"] or bool(_BEFORE_VERB.search(text, max(start - 20, 0), start))


def _is_count(text: str, match: re.Match[str]) -> bool:
    """Return whether the number that ends a date counts what follows it."""
    ends_with_number = match["bare_year"] or (match["month_day"] and not match["month_day_year"])
    return bool(ends_with_number) and _COUNTS.match(text, match.end()) is not None


_NUMBERS = {
    "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_DAYS = "|".join(WEEKDAY_NUMBERS)
_RELATIVE_DATES = re.compile(
    rf"""(?<![\w#-])(?:
      (?:the\s+)?(?P<before_yesterday>day\s+before\s+yesterday)
    | (?P<day>today|yesterday)
    | (?:the\s+)?(?P<which>last|past|previous|this|current)\s+
        (?P<unit>week|weekend|month|quarter|year)(?!\s+of\b)
    | (?:the\s+)?(?:last|past|previous)\s+(?P<count>{_COUNT})\s+
        (?P<units>days|weeks|months|quarters|years)
    | (?P<lead>last|this|on|since|until|till|before|after|from)\s+(?P<weekday>{_DAYS})
    )(?![\w-])""",
    re.IGNORECASE | re.VERBOSE,
)
_LEADS_BEFORE_WEEKDAYS = ("last", "this")
_CAPITAL_NEXT = re.compile(r"\s+[A-Z]")
_CAPITAL_BEFORE = re.compile(r"[A-Z]\w*\s+$")


@dataclass(frozen=True, slots=True)
class RelativeDate:
    """A stretch of days given relative to today, where a query writes it."""

    start: int
    end: int
    """Span in the query."""
    first: date
    last: date


def find_relative_dates(text: str, today: date) -> Iterator[RelativeDate]:
    """Yield the dates in a text that are relative to `today`, in order."""
    for match in _RELATIVE_DATES.finditer(text):
        start, end = match.span()
        if match["weekday"]:
            if _CAPITAL_NEXT.match(text, end):  # `on Sunday Times`
                continue
            if match["lead"].lower() not in _LEADS_BEFORE_WEEKDAYS:
                start = match.start("weekday")
        if (match["day"] or "").istitle() and _CAPITAL_BEFORE.search(
            text, max(start - 20, 0), start
        ):
            continue  # `USA Today`
        first, last = _days_of(match, today)
        yield RelativeDate(start, end, first, last)


def _days_of(match: re.Match[str], today: date) -> tuple[date, date]:
    if match["before_yesterday"]:
        return today - 2 * DAY, today - 2 * DAY
    if match["day"]:
        day = today if match["day"].lower() == "today" else today - DAY
        return day, day
    if match["unit"]:
        if match["which"].lower() == "past" and match["unit"].lower() != "weekend":
            return _first_of_last(1, match["unit"].lower(), today), today
        back = 0 if match["which"].lower() in ("this", "current") else 1
        return _unit(match["unit"].lower(), back, today)
    if match["units"]:
        return _first_of_last(_count(match["count"]), match["units"].lower()[:-1], today), today
    number, lead = WEEKDAY_NUMBERS[match["weekday"].lower()], match["lead"].lower()
    monday, _ = week_of(today)
    day = monday + (number - 1) * DAY
    if lead != "this" and (day > today or (lead == "last" and day == today)):
        day -= timedelta(weeks=1)
    return day, day


def _count(text: str) -> int:
    words = " ".join(text.lower().split())
    return int(words) if words.isdigit() else _NUMBERS[words]


def _unit(unit: str, back: int, today: date) -> tuple[date, date]:
    """Return the week, weekend, month, quarter or year that began `back` such units ago."""
    match unit:
        case "week":
            return week_of(today - timedelta(weeks=back))
        case "weekend":
            saturday = week_of(today)[0] + 5 * DAY - timedelta(weeks=back)
            return saturday, saturday + DAY
        case "month":
            year, month = _months_before(today, back)
            return month_days(year, month, month)
        case "quarter":
            year, month = _months_before(today, 3 * back)
            last_month = 3 * ((month + 2) // 3)
            return month_days(year, last_month - 2, last_month)
    return month_days(today.year - back, 1, 12)


def _first_of_last(count: int, unit: str, today: date) -> date:
    """Return the first day of the last `count` days, weeks, months, quarters or years."""
    if unit in ("day", "week"):
        return today - count * (7 if unit == "week" else 1) * DAY + DAY
    year, month = _months_before(today, count * {"month": 1, "quarter": 3, "year": 12}[unit])
    last_day = month_days(year, month, month)[1].day
    return date(year, month, min(today.day, last_day)) + DAY


def _months_before(today: date, count: int) -> tuple[int, int]:
    """Return year and month, `count` months ago."""
    months = 12 * today.year + today.month - 1 - count
    return months // 12, months % 12 + 1
