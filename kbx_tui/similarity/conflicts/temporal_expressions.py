"""Temporal expressions: dates and times in a text, as comparable components. Pure.

`17 March 2026` has a year, a month and a day, `on Friday` a weekday, `Q3` a quarter. Two texts
disagree when both give the same component without a value in common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

Part = Literal["year", "month", "day", "weekday", "quarter", "hour", "when"]

_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name: n for n, name in enumerate(_MONTHS.split(), 1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
_MONTH_STARTS = tuple(name[:3] for name in _MONTHS.split())
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAY = {name: n for n, name in enumerate(_WEEKDAYS.split(), 1)}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))

_ISO = re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?(?![\d-])")
_DAY_MONTH = re.compile(
    rf"(?i)(?<![\w.])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_NAMES})\b\.?"
    r"(?:,?\s+(?P<year>\d{4})\b)?"
)
_MONTH_DAY = re.compile(
    rf"(?i)\b(?P<month>{_NAMES})\b\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)"
    r"(?:,?\s+(?P<year>\d{4})\b)?"
)
_MONTH_YEAR = re.compile(rf"(?i)\b(?P<month>{_NAMES})\b\.?,?\s+(?P<year>\d{{4}})\b")
_MONTH_ALONE = re.compile(
    r"\b(?P<month>January|February|(?<!^)March|April|(?<=in )May|June|July|August|"
    r"September|October|November|December)\b"
)
_WEEKDAY_ALONE = re.compile(rf"(?i)\b(?P<weekday>{_WEEKDAYS.replace(' ', '|')})s?\b")
_QUARTER = re.compile(r"(?i)\bq(?P<quarter>[1-4])\b(?:[\s/-]*(?P<year>\d{4}))?")
_YEAR = re.compile(r"(?<![\w.,-])(?P<year>19\d\d|20\d\d)(?![\w-]|[.,]\d)")
_TIME = re.compile(
    r"(?i)(?<![\d.:])([01]?\d|2[0-3])(?::([0-5]\d))\s*(a\.?m\b|p\.?m\b)?"
    r"|(?<![\d.:])(1[0-2]|0?[1-9])\s*(a\.?m\b|p\.?m\b)"
)
_YEAR_HINT, _TIME_HINT = re.compile(r"\d{4}"), re.compile(r"(?i)\d(?::\d|\s*[ap]\.?m)")
"""Cheap checks that spare the full patterns on most texts."""
_WHEN = re.compile(
    r"(?i)\b(?P<when>today|tomorrow|yesterday|tonight|"
    r"(?:last|this|next) (?:week|month|quarter|year|sprint))\b"
)
_PARTS_OF_WHEN = ("day", "tonight", "tomorrow", "last", "this", "next")


@dataclass(frozen=True, slots=True)
class TemporalExpression:
    """One component of a date or time in a text."""

    part: Part
    value: int | str
    written: str
    start: int
    end: int
    """Span in the text."""


def find_temporal_expressions(text: str) -> tuple[TemporalExpression, ...]:
    """Return the components of all dates and times in a text."""
    found: list[TemporalExpression] = []
    earlier: list[TemporalExpression] = []

    def add_all(pattern: re.Pattern[str]) -> None:
        for match in pattern.finditer(text):
            if any(time.start < match.end() and match.start() < time.end for time in earlier):
                continue
            parts = {"hour": _minutes(match)} if pattern is _TIME else match.groupdict()
            written = match[0].strip()
            for part, value in parts.items():
                if value is not None:
                    expression = cast(Part, part), _comparable(value), written, *match.span()
                    found.append(TemporalExpression(*expression))

    has_year = _YEAR_HINT.search(text) is not None
    if has_year:
        add_all(_ISO)
    earlier, lowered = list(found), text.lower()
    if any(map(lowered.__contains__, _MONTH_STARTS)):  # the patterns are slow, and seldom needed
        for pattern in (_DAY_MONTH, _MONTH_DAY, _MONTH_YEAR, _MONTH_ALONE):
            earlier = list(found)
            add_all(pattern)
    if "day" in lowered:
        add_all(_WEEKDAY_ALONE)
    if "q" in lowered:
        add_all(_QUARTER)
    if has_year:
        add_all(_YEAR)
    if _TIME_HINT.search(text):
        add_all(_TIME)
    if any(map(lowered.__contains__, _PARTS_OF_WHEN)):
        add_all(_WHEN)
    return tuple(found)


def _comparable(value: str | int) -> int | str:
    if isinstance(value, int):
        return value
    word = value.lower()
    return int(word) if word.isdigit() else _MONTH.get(word) or _WEEKDAY.get(word) or word


def differing(
    left: tuple[TemporalExpression, ...], right: tuple[TemporalExpression, ...]
) -> tuple[list[TemporalExpression], list[TemporalExpression]]:
    """Return the expressions of each side to which the other side gives different values."""
    left_only: list[TemporalExpression] = []
    right_only: list[TemporalExpression] = []
    for part in sorted({time.part for time in left} & {time.part for time in right}):
        ours = [time for time in left if time.part == part]
        theirs = [time for time in right if time.part == part]
        if {time.value for time in ours}.isdisjoint(time.value for time in theirs):
            left_only += ours
            right_only += theirs
    return left_only, right_only


def _minutes(match: re.Match[str]) -> int:
    hour, minute = int(match[1] or match[4]), int(match[2] or 0)
    half = (match[3] or match[5] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour * 60 + minute
