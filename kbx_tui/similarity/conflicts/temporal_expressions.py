"""Dates and times named in a text, as parts that can be compared. Pure.

`17 March 2026` has a year, a month and a day, `on Friday` a weekday, `Q3` a quarter: two texts
differ in time when both name the same part and no value of it is common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Part = Literal["year", "month", "day", "weekday", "quarter", "hour", "when"]

_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name: n for n, name in enumerate(_MONTHS.split(), 1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
_MONTH_STARTS = tuple(name[:3] for name in _MONTHS.split())
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAY = {name: n for n, name in enumerate(_WEEKDAYS.split(), 1)}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))

_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?![\d-])")
_DAY_MONTH = re.compile(
    rf"(?i)(?<![\w.])(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_NAMES})\b\.?(?:,?\s+(\d{{4}})\b)?"
)
_MONTH_DAY = re.compile(
    rf"(?i)\b({_NAMES})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)(?:,?\s+(\d{{4}})\b)?"
)
_MONTH_YEAR = re.compile(rf"(?i)\b({_NAMES})\b\.?,?\s+(\d{{4}})\b")
_MONTH_ALONE = re.compile(
    r"\b(January|February|(?<!^)March|April|(?<=in )May|June|July|August|"
    r"September|October|November|December)\b"
)
_WEEKDAY_ALONE = re.compile(rf"(?i)\b({_WEEKDAYS.replace(' ', '|')})s?\b")
_QUARTER = re.compile(r"(?i)\bq([1-4])\b(?:[\s/-]*(\d{4}))?")
_YEAR = re.compile(r"(?<![\w.,-])(19\d\d|20\d\d)(?![\w-]|[.,]\d)")
_TIME = re.compile(
    r"(?i)(?<![\d.:])([01]?\d|2[0-3])(?::([0-5]\d))\s*(a\.?m\b|p\.?m\b)?"
    r"|(?<![\d.:])(1[0-2]|0?[1-9])\s*(a\.?m\b|p\.?m\b)"
)
_PERHAPS_YEAR, _PERHAPS_TIME = re.compile(r"\d{4}"), re.compile(r"(?i)\d(?::\d|\s*[ap]\.?m)")
"""Begin with what there must be, so that they look a fraction as long."""
_WHEN = re.compile(
    r"(?i)\b(today|tomorrow|yesterday|tonight|"
    r"(?:last|this|next) (?:week|month|quarter|year|sprint))\b"
)
_PARTS_OF_WHEN = ("day", "tonight", "tomorrow", "last", "this", "next")


@dataclass(frozen=True, slots=True)
class Moment:
    """One part of a date or time in a text."""

    part: Part
    value: int | str
    written: str
    start: int
    end: int
    """Span in the text."""


def moments(text: str) -> tuple[Moment, ...]:
    """Return the parts of the dates and times that a text names."""
    found: list[Moment] = []

    def add(match: re.Match[str], **parts: str | int | None) -> None:
        if any(one.start < match.end() and match.start() < one.end for one in earlier):
            return
        for part, value in parts.items():
            if value is not None:
                number = int(value) if isinstance(value, str) and value.isdigit() else value
                found.append(
                    Moment(part, number, match.group().strip(), *match.span())  # type: ignore[arg-type]
                )

    earlier: list[Moment] = []
    perhaps_year = _PERHAPS_YEAR.search(text) is not None
    if perhaps_year:
        for match in _ISO.finditer(text):
            add(match, year=match[1], month=match[2], day=match[3])
    earlier, small = list(found), text.lower()
    if any(map(small.__contains__, _MONTH_STARTS)):  # most texts name none, and looking takes long
        for match in _DAY_MONTH.finditer(text):
            add(match, day=match[1], month=_MONTH[match[2].lower()], year=match[3])
        earlier = list(found)
        for match in _MONTH_DAY.finditer(text):
            add(match, month=_MONTH[match[1].lower()], day=match[2], year=match[3])
        earlier = list(found)
        for match in _MONTH_YEAR.finditer(text):
            add(match, month=_MONTH[match[1].lower()], year=match[2])
        earlier = list(found)
        for match in _MONTH_ALONE.finditer(text):
            add(match, month=_MONTH[match[1].lower()])
    if "day" in small:
        for match in _WEEKDAY_ALONE.finditer(text):
            add(match, weekday=_WEEKDAY[match[1].lower()])
    if "q" in small:
        for match in _QUARTER.finditer(text):
            add(match, quarter=match[1], year=match[2])
    if perhaps_year:
        for match in _YEAR.finditer(text):
            add(match, year=match[1])
    if _PERHAPS_TIME.search(text):
        for match in _TIME.finditer(text):
            add(match, hour=_minutes(match))
    if any(map(small.__contains__, _PARTS_OF_WHEN)):
        for match in _WHEN.finditer(text):
            add(match, when=match[1].lower())
    return tuple(found)


def differing(
    left: tuple[Moment, ...], right: tuple[Moment, ...]
) -> tuple[list[Moment], list[Moment]]:
    """Return the moments of parts that both sides name without a common value."""
    apart_left: list[Moment] = []
    apart_right: list[Moment] = []
    for part in {moment.part for moment in left} & {moment.part for moment in right}:
        ours = [moment for moment in left if moment.part == part]
        theirs = [moment for moment in right if moment.part == part]
        if {moment.value for moment in ours}.isdisjoint(moment.value for moment in theirs):
            apart_left += ours
            apart_right += theirs
    return apart_left, apart_right


def _minutes(match: re.Match[str]) -> int:
    hour, minute = int(match[1] or match[4]), int(match[2] or 0)
    half = (match[3] or match[5] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour * 60 + minute
