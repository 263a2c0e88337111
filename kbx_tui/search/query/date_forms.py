"""The forms of dates in queries, and the periods that they mean. Pure.

Only relative dates of the past and the present are read: a document about next week is written
before it. `3 years ago` is the time of an event, about which documents may be written later.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import ascending
from kbx_tui.index.text_columns import CodedColumn
from kbx_tui.knowledge.dates import (
    ENGLISH_WORDS,
    MONTH_NAMES,
    MONTH_NUMBERS,
    WEEKDAY_NUMBERS,
    WRITTEN_MONTHS,
    first_day,
)
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.request import end_of

MOST_WORDS = 16
"""Number of possible dates above which a query counts as pasted text, and none is read."""

_NUMBERS = {
    "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_TO_TWENTY = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_DAYS = [
    *_TO_TWENTY.split(),
    *(f"twenty-{word}" for word in _TO_TWENTY.split()[:9]),
    "thirtieth",
    "thirty-first",
]
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "q1": 1, "q2": 2, "q3": 3, "q4": 4}
_DAYS_AGO = {"today": 0, "yesterday": 1, "day before yesterday": 2}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}

_ALSO_NAMES = frozenset({"avril", "julio", "maja", "marca", "marco", "mars", "mayo", "mei"})
"""Foreign months that with a capital and a year are rather a name: `Mars 2020`."""

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH, _FOREIGN_MONTH = (
    rf"(?P<month>{'|'.join(sorted(months, key=len, reverse=True))})\b\.?"
    for months in (MONTH_NUMBERS, WRITTEN_MONTHS)
)
_MONTH_NUMBER, _DAY_NUMBER = r"(?P<month>0[1-9]|1[0-2])", r"(?P<day>0[1-9]|[12]\d|3[01])"
_DAY, _FROM_DAY = (rf"(?P<{name}>\d{{1,2}})(?:st|nd|rd|th)?" for name in ("day", "from_day"))
_ORDINAL = rf"(?P<day>{'|'.join(sorted(_DAYS, key=len, reverse=True))})".replace("-", "[ -]")
_TO, _WEEK_NUMBER = r"\s*(?:-|–|to)\s*", r"0?[1-9]|[1-4]\d|5[0-3]"
WEEKDAYS = "|".join(WEEKDAY_NUMBERS)
_FORMS = {
    "2026-03-17": rf"{_YEAR}-{_MONTH_NUMBER}-{_DAY_NUMBER}",
    "2026/03/17": rf"{_YEAR}/{_MONTH_NUMBER}/{_DAY_NUMBER}",
    "2026-03": rf"{_YEAR}-{_MONTH_NUMBER}",
    "17.3.2026": rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
    "17th of March 2026, 17-20 March": rf"(?:{_FROM_DAY}(?:{_TO}|\s+and\s+))?"
    rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR})?",
    "March 17th, 2026, March 3-7": rf"{_MONTH}\s+(?:{_FROM_DAY}{_TO})?{_DAY}(?:,?\s+{_YEAR})?",
    "seventeenth of March": rf"{_ORDINAL}\s+of\s+{_MONTH}(?:,?\s+{_YEAR})?",
    "March the seventeenth": rf"{_MONTH}\s+the\s+{_ORDINAL}(?:,?\s+{_YEAR})?",
    "March 2026": rf"{_MONTH},?\s+(?:of\s+)?{_YEAR}",
    "März 2026, 17 de marzo de 2026": r"(?:(?P<day>\d{1,2})(?:\.|er)?\s*(?:de\s+)?)?"
    rf"{_FOREIGN_MONTH}\s+(?:de\s+)?{_YEAR}",
    "Q1 2026": rf"(?P<quarter>q[1-4])(?:[\s/-]*{_YEAR})?",
    "first quarter of 2026": r"(?P<quarter>first|second|third|fourth)\s+quarter"
    rf"(?:\s+of)?(?:[\s/-]*{_YEAR})?",
    "2026 Q1": rf"{_YEAR}[\s-]?(?P<quarter>q[1-4])",
    "week 12 of 2026, KW 12": rf"(?:calendar\s+)?(?:week|kw)\s*(?P<week>{_WEEK_NUMBER})"
    rf"(?:[\s,/-]+(?:of\s+)?{_YEAR})?",
    "March": rf"(?P<month>{'|'.join(MONTH_NAMES)})",
    "2026": _YEAR,
}
_CJK_FORMS = {
    "2026年3月17日": rf"{_YEAR}[年년]\s?(?P<month>\d{{1,2}})[月월]"
    r"(?:\s?(?P<day>\d{1,2})[日号號일])?",
}
_RELATIVE_FORMS = {
    "yesterday": r"(?:the\s+)?(?P<days_ago>day\s+before\s+yesterday|yesterday|today)",
    "last week, this quarter": r"(?:the\s+)?(?P<which>last|past|previous|this|current)\s+"
    r"(?P<unit>week|weekend|month|quarter|year)(?!\s+of\b)",
    "the last three weeks": r"(?:the\s+)?(?:last|past|previous)\s+"
    rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?P<units>day|week|month|quarter|year)s",
    "last Monday, on Monday": rf"(?:(?P<which>last|this)\s+)?(?P<weekday>{WEEKDAYS})",
}
"""Regular expressions of dates relative to today, by example; `_FORMS` has those of the calendar.
Letters are folded. Of forms that match at the same place, the first counts."""
_BOUNDS = (r"(?:(?<![\w#/.,:£$€-])|(?<=\bmid-))", r"(?![\w/%-]|[.,:]\d)")
_CJK_BOUNDS = (r"(?<!\d)", "")
_RELATIVE_BOUNDS = (r"(?<![\w#-])", r"(?![\w-])")
_PATTERNS = [
    re.compile(f"{start}{form}{end}", re.IGNORECASE)
    for forms, (start, end) in (
        (_FORMS, _BOUNDS),
        (_CJK_FORMS, _CJK_BOUNDS),
        (_RELATIVE_FORMS, _RELATIVE_BOUNDS),
    )
    for form in forms.values()
]
_TIME_OF_DAY = re.compile(r"[ T]\d{1,2}:\d\d")
_THINGS = re.compile(
    r"(?:\s*(?:-|–|to|and|or)\s*\d+)?\s+(?:ms|[kmg]b|k?m|kg|tons?|miles|metres|meters|bytes|"
    r"characters|words|tokens|lines|rows|items|records|files|pages|documents|requests|messages|"
    r"users|people|customers|employees|times|(?:milli)?seconds|minutes|hours|days|weeks|"
    r"euros?|dollars?|percent)\b",
    re.IGNORECASE,
)
_THIS_MAY = re.compile(r"\b(?:this|the\s+(?:first|last))\s+$", re.IGNORECASE)
_BEFORE_WEEKDAY = re.compile(r"\b(?:on|since|until|till|before|after|from)\s+$", re.IGNORECASE)
_WEEKDAY_JOIN = re.compile(r",?\s+(?:the\s+)?")


@dataclass(frozen=True, slots=True)
class DateWords:
    """A date in a query, at the characters from `start` to `end`."""

    start: int
    end: int
    relative: tuple[date, date] | None = None
    """First and last day of a date relative to today; None for others."""
    year: int | None = None
    months: tuple[int, int] = (1, 12)
    days: tuple[int, int] | None = None
    week: int | None = None
    """Number of an ISO week."""
    is_bare: bool = False
    """Whether it is a month, quarter or year alone, which may not be meant as a date."""

    def within(self, year: int) -> tuple[date, date] | None:
        """Return the first and last day, in `year` if it has none; None for a 30 February."""
        if self.relative is not None:
            return self.relative
        year = self.year or year
        if self.week is not None:
            monday = week_of(date(year, 1, 4))[0] + 7 * (self.week - 1) * DAY
            return monday, monday + 6 * DAY
        if self.days is None:
            return month_days(year, *self.months)
        try:
            first, last = (date(year, self.months[0], day) for day in self.days)
        except ValueError:
            return None
        return (first, last) if first <= last else None


def find_dates(query: str, today: date) -> list[DateWords]:
    """Return the dates in a query, in order, without numbers and names that only look like dates.

    Empty if there are more than `MOST_WORDS` candidates.
    """
    dates: list[DateWords] = []
    folded = "".join(map(_folded, query))
    fitting = {pattern: match for pattern in _PATTERNS if (match := pattern.search(folded))}
    for _ in range(MOST_WORDS):
        if not fitting:
            return dates
        match = min(fitting.values(), key=lambda match: match.start())  # of a tie, the first form
        for pattern in [each for each in fitting if fitting[each].start() < match.end()]:
            if following := pattern.search(folded, match.end()):
                fitting[pattern] = following
            else:
                del fitting[pattern]
        groups = {name: text.lower() for name, text in match.groupdict().items() if text}
        words = _date_words(match, groups, today)
        if words.within(2000) is None or not _is_date(query, match, groups):  # 2000 is a leap year
            continue
        is_second = bool(dates) and dates[-1].relative is not None and words.relative is None
        if is_second and _WEEKDAY_JOIN.fullmatch(query, dates[-1].end, words.start):
            dates.pop()  # `on Monday, 16 March`
        dates.append(words)
    return [] if fitting else dates


def _folded(character: str) -> str:
    """Return a letter without its accent; others as they are, so that places stay the same."""
    folded = "" if character.isascii() else fold(character)
    return folded if len(folded) == 1 else character


def _date_words(match: re.Match[str], groups: dict[str, str], today: date) -> DateWords:
    if relative := _relative_days(groups, today):
        return DateWords(*match.span(), relative)
    months, month, day = (1, 12), groups.get("month"), groups.get("day")
    if quarter := _QUARTERS.get(groups.get("quarter", "")):
        months = (3 * quarter - 2, 3 * quarter)
    elif month is not None:
        number = WRITTEN_MONTHS.get(month) or int(month)
        months = (number, number)
    return DateWords(
        *match.span(),
        year=int(groups["year"]) if "year" in groups else None,
        months=months,
        days=(_day_number(groups.get("from_day", day)), _day_number(day)) if day else None,
        week=int(groups["week"]) if "week" in groups else None,
        is_bare=len(groups) == 1 and "week" not in groups,
    )


def _day_number(day: str) -> int:
    return int(day) if day.isdigit() else _DAYS.index(day.replace(" ", "-")) + 1


def _relative_days(groups: dict[str, str], today: date) -> tuple[date, date] | None:
    which = groups.get("which", "")
    is_now = which in ("this", "current")
    match groups:
        case {"days_ago": words}:
            day = today - _DAYS_AGO[" ".join(words.split())] * DAY
        case {"unit": "week"} if which != "past":
            return week_of(today if is_now else today - 7 * DAY)
        case {"unit": "weekend"}:
            saturday = week_of(today if is_now else today - 7 * DAY)[0] + 5 * DAY
            return saturday, saturday + DAY
        case {"unit": unit} if which != "past":
            length = _MONTHS_IN[unit]
            number = (12 * today.year + today.month - 1) // length - (not is_now)
            year, month = divmod(number * length, 12)
            return month_days(year, month + 1, month + length)
        case {"unit": unit}:
            return _first_of_last(1, unit, today), today
        case {"units": unit, "count": count}:
            number = _NUMBERS.get(" ".join(count.split())) or int(count)
            return _first_of_last(number, unit, today), today
        case {"weekday": weekday}:
            day = week_of(today)[0] + (WEEKDAY_NUMBERS[weekday] - 1) * DAY
            if not is_now and (day > today or (which == "last" and day == today)):
                day -= 7 * DAY
        case _:
            return None
    return day, day


def _first_of_last(count: int, unit: str, today: date) -> date:
    if unit in ("day", "week"):
        return today - count * (7 if unit == "week" else 1) * DAY + DAY
    year, month = divmod(12 * today.year + today.month - 1 - count * _MONTHS_IN[unit], 12)
    last_day = monthrange(year, month + 1)[1]
    return date(year, month + 1, min(today.day, last_day)) + DAY


def _is_date(query: str, match: re.Match[str], groups: dict[str, str]) -> bool:
    start, end = match.span()
    before = query[max(start - 20, 0) : start]
    if "weekday" in groups:
        is_led = "which" in groups or _BEFORE_WEEKDAY.search(before)
        return bool(is_led) and not re.match(r"\s+[A-Z]", query[end:])  # `on Sunday Times`
    if "days_ago" in groups:  # `USA Today`
        return not (match["days_ago"].istitle() and re.search(r"[A-Z]\w*\s+$", before))
    if "unit" in groups or "units" in groups:
        return True
    if _TIME_OF_DAY.match(query, end):  # a log entry
        return False
    has_day, has_year = "day" in groups, "year" in groups
    if groups.get("month") in ENGLISH_WORDS and not has_day:
        return False
    if groups.get("month") in _ALSO_NAMES and not (has_day or " de " in match[0].lower()):
        written = query[slice(*match.span("month"))]
        if written.isascii() and (written != written.lower() or written == "marco"):
            return False  # but `março 2026`
    is_small_may = match.groupdict().get("month") == "may" and not has_year
    if is_small_may and re.match(r"\s+[a-z]", query[end:]):
        return not (has_day or _THIS_MAY.search(before))  # `10 may be enough`, `this may fail`
    is_number = match[0][-1].isdigit() and "quarter" not in groups
    may_count = is_number and (not has_year or len(groups) == 1)
    return not (may_count and _THINGS.match(query, end))  # `in 2000 lines`, `march 3 miles`


LAST_ISO_DATE = "9999-12-31"
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both inclusive, as ISO dates; an empty end is open."""

    first: str
    last: str

    def contains(self, day: str) -> bool:
        """Return whether a day is among them, or any day of a week, month or year."""
        last = self.last or LAST_ISO_DATE
        return bool(day) and self.first <= end_of(day) and day[: len(last)] <= last

    def is_inside(self, longer: str) -> bool:
        """Return whether they are some of the days of a week, month, year or the like."""
        if not (self.first and self.last and longer):
            return False
        begins, ends = first_day(longer), end_of(longer)
        day_after = (date.fromisoformat(self.last) + DAY).isoformat()
        is_shorter = begins < self.first or day_after <= ends
        return is_shorter and begins <= self.first and self.last <= ends

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
        """`dates` has the ISO date of each row (`date_of`), empty for a document without one."""
        self._by_row = CodedColumn.of(dates)
        codes = ascending(self._by_row.codes).tolist()
        self._distinct = set(filter(None, map(self._by_row.values.__getitem__, codes)))
        self._dates = sorted(self._distinct)
        self._weeks = [date for date in self._dates if "/" in date]

    def flags_in(self, period: Period) -> NDArray[np.bool_]:
        return self._by_row.flags(period.contains)

    def flags_around(self, period: Period) -> NDArray[np.bool_]:
        return self._by_row.flags(period.is_inside)

    def any_in(self, period: Period) -> bool:
        index = bisect_left(self._dates, period.first)
        around = (period.first[:4], period.first[:7], *self._dates[index : index + 1], *self._weeks)
        return any(period.contains(date) and date in self._distinct for date in around)

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
