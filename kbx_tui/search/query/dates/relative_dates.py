"""Dates counted from today: `yesterday`, `last week`, `the last three weeks`, `on Monday`. Pure.

Only the past and the present: a document about next week is written before it. `3 years ago` is not
read: it says when something happened, and documents tell it later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from kbx_tui.knowledge.calendar_names import WEEKDAY_NUMBERS
from kbx_tui.search.query.dates.period import DAY, month_days, week_of

_NUMBERS = {
    "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_DAYS = "|".join(WEEKDAY_NUMBERS)
_DATES = re.compile(
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
    for match in _DATES.finditer(text):
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
