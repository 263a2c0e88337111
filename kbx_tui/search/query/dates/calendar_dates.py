"""Dates written with the words of the calendar: `17 March`, `March 2026`, `Q1`, `2026`. Pure.

Without a year, a date is any of those days; `resolve` in `date_reading` chooses one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

from kbx_tui.knowledge.calendar_names import MONTH_NAMES, MONTH_NUMBERS
from kbx_tui.search.query.dates.period import month_days

_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_NTH = r"(?:st|nd|rd|th)?"
_TO = r"\s*(?:-|–|to)\s*"
_START, _END = r"(?:(?<![\w#/.,:£$€-])|(?<=\bmid-))", r"(?![\w/%-]|[.,:]\d)"
_DATES = re.compile(
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
    for match in _DATES.finditer(text):
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
