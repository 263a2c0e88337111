"""Reads the date words of a query: which period they mean, and the query without them. Pure.

A month or day without a year is the latest one, up to today, in which a document is dated; without
any, the next one that has a document; else the latest. What is relative (`last week`) is not read
beside a date with a year, because it is then relative to that.

A month, quarter or year alone is read only after a word such as `in` or `since`: `Q1 goals` and
`roadmap 2026` are topics. Nothing within quotation marks is read. Where no document is dated, the
words are searched for like others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from typing import Literal

from kbx_tui.knowledge.dates import MONTH_NUMBERS, WEEKDAY_NUMBERS
from kbx_tui.search.query.periods import (
    DAY,
    CalendarDate,
    DocumentDates,
    Period,
    RelativeDate,
    days,
    find_calendar_dates,
    find_relative_dates,
    week_of,
)

MOST_DATES = 4
"""Dates above which none is read: the query is a pasted text."""
MOST_WORDS = 4 * MOST_DATES
"""The same for words that may be dates, such as years."""
FIRST_YEAR = 1900
"""No date is looked for in an earlier year."""

Direction = Literal["in", "since", "after", "before", "until"]
Span = tuple[int, int]

_HINT = re.compile(
    rf"(?:19|20)\d\d|\b(?:{'|'.join(MONTH_NUMBERS)}|q[1-4]|(?:week|month|quarter|year|day)s?|"
    rf"weekend|yesterday|today|{'|'.join(WEEKDAY_NUMBERS)})\b",
    re.IGNORECASE,
)
"""Occurs in every query with a date."""
_DIRECTIONS: dict[str, Direction] = {
    "since": "since", "after": "after", "before": "before", "until": "until", "till": "until",
    "up to": "until", "by": "until",
}  # fmt: skip
_NEVER_BEFORE_NAMES = frozenset({"in", "during", "throughout", "within", "last", "this"})
"""Words that do not precede a person: `in April` is the month."""
_LICENSING = _NEVER_BEFORE_NAMES | {
    "since", "after", "before", "until", "till", "up to", "between", "from", "as of",
}  # fmt: skip
"""Words after which a bare month, quarter or year is a date."""
_LEAD = re.compile(
    r"(?:\b(?P<word>since|after|before|until|till|up\s+to|by|between|from|in|during|throughout|"
    r"within|on|at|of|for|as\s+of|dated|last|this|over)\s+)?(?P<the>the\s+)?"
    r"(?:\b(?P<part>(?:(?:beginning|start|middle|end|month|year|week|day|(?:first|second)\s+half|"
    r"(?:first|last)\s+(?:week|days))\s+of\s+(?:the\s+)?)|early\s+|late\s+|mid(?:\s+|-)))?"
    rf"(?:\b(?:{'|'.join(WEEKDAY_NUMBERS)}),?\s+(?:the\s+)?)?$",
    re.IGNORECASE,
)
_LEAD_LENGTH = 60
_TRAIL = re.compile(r"\s+(?:on(?:wards?)?|and\s+later)\b|['’]s?(?!\w)", re.IGNORECASE)
_JOINS = re.compile(r"\s*(?:,|-|–|to|and|or|until|till|through|,\s*(?:and|or))\s*", re.IGNORECASE)
_RANGE_JOINS = frozenset({"-", "–", "to", "until", "till", "through"})
_WEEKDAY_JOIN = re.compile(r",?\s+(?:the\s+)?")
"""Between a weekday and its date: `Monday, 16 March`."""
_AROUND = re.compile(r"^(?:[,–-]|and\b|or\b|\s)+|['’]s?$", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”")
_COUNTED_FROM = re.compile(
    rf"\b(?:day|night|morning|evening|afternoon|weekend|week|month|quarter|year|"
    rf"{'|'.join(WEEKDAY_NUMBERS)})s?\s+(?:before|after|following|preceding|prior\s+to)\s+"
    r"(?:the\s+)?$",
    re.IGNORECASE,
)
"""Before a date that is not asked for itself: `the Sunday before 25 October`."""


@dataclass(frozen=True, slots=True)
class ReadDate:
    """Date words of a query, and the period that they mean."""

    text: str
    """As typed, with the words around it: `in March`."""
    period: Period
    named_period: Period | None = None
    """The day, month, quarter or year that it names, as documents may write it; else None."""
    is_relative: bool = False


@dataclass(frozen=True, slots=True)
class DatedQuery:
    """What was read of a query, and the query without it."""

    text: str
    """What is searched for: without what is relative to today, as documents do not write it. Dates
    that documents may write, and those without documents, are still part of it."""
    rest: str
    """What the query asks besides dates."""
    dates: tuple[ReadDate, ...] = ()
    """Dates on which documents are dated."""
    undated: tuple[ReadDate, ...] = ()
    """Dates on which no document is dated."""


@dataclass(frozen=True, slots=True)
class _Expression:
    """One date, or a range of two, with the word before it."""

    start: int
    end: int
    first: CalendarDate | RelativeDate
    last: CalendarDate | RelativeDate
    direction: Direction = "in"
    is_whole_week: bool = False
    """Whether the week of the day is meant: `the week of 16 March`."""
    may_be_name: bool = field(default=False)

    @property
    def has_year(self) -> bool:
        return isinstance(self.first, CalendarDate) and self.first.year is not None

    @property
    def is_relative(self) -> bool:
        return isinstance(self.first, RelativeDate)


def read_dates(
    query: str,
    today: date,
    document_dates: Callable[[], DocumentDates],
    find_names: Callable[[str], Sequence[Span]] = lambda text: (),
) -> DatedQuery:
    """Return the query without its date words, and the periods that they mean.

    `document_dates` is called only if there are any, and `find_names`, which returns the spans of
    the names in a text, only where a word such as `April` or `May` may be one.
    """
    expressions = _find_expressions(query, today)
    if any(expression.may_be_name for expression in expressions):
        names = find_names(query)
        expressions = [e for e in expressions if not (e.may_be_name and _is_within(e, names))]
    if not expressions:
        return DatedQuery(query, query)
    documents = document_dates()
    read: list[ReadDate] = []
    undated: list[ReadDate] = []
    removed: list[Span] = []
    for expression in expressions:
        meant = _resolve(query, expression, today, documents)
        has_documents = documents.any_in(meant.period)
        (read if has_documents else undated).append(meant)
        if has_documents and expression.is_relative:
            removed.append((expression.start, expression.end))
    rest = _without(query, [(expression.start, expression.end) for expression in expressions])
    return DatedQuery(_without(query, removed), rest, tuple(read), tuple(undated))


def _find_expressions(query: str, today: date) -> list[_Expression]:
    """Return the dates of a query in order, with the words that belong to them."""
    if not _HINT.search(query):
        return []
    query = _QUOTED.sub(lambda match: '"' * len(match[0]), query)
    calendar = list(islice(find_calendar_dates(query), MOST_WORDS + 1))
    relative = _without_weekdays_of(calendar, query, find_relative_dates(query, today))
    if len(calendar) + len(relative) > MOST_WORDS:
        return []
    origins = [dates for dates in calendar if _is_origin(dates, query)]
    if origins:
        calendar, relative = [dates for dates in calendar if dates not in origins], []
    found: list[CalendarDate | RelativeDate] = [*relative, *calendar]
    found.sort(key=lambda dates: dates.start)
    expressions = _joined(query, found)
    if len(expressions) > MOST_DATES:
        return []
    if any(expression.has_year for expression in expressions):
        expressions = [e for e in expressions if not e.is_relative]
    return expressions


def _without_weekdays_of(
    calendar: Sequence[CalendarDate], query: str, relative: Iterable[RelativeDate]
) -> list[RelativeDate]:
    """Return relative dates except for the weekday of another date: `on Monday, 16 March`."""
    starts = {dates.start for dates in calendar}
    joins = ((dates, _WEEKDAY_JOIN.match(query, dates.end)) for dates in relative)
    return [dates for dates, join in joins if join is None or join.end() not in starts]


def _is_origin(dates: CalendarDate, query: str) -> bool:
    """Return whether another date is counted from this one."""
    start = max(dates.start - _LEAD_LENGTH, 0)
    return _COUNTED_FROM.search(query, start, dates.start) is not None


def _joined(query: str, found: Sequence[CalendarDate | RelativeDate]) -> list[_Expression]:
    """Return expressions: ranges joined, dates without a year given that of the one they precede,
    and bare words left out where nothing before them says that they are dates.
    """
    dates, joins = list(found), [""] * len(found)  # the word between each date and the one before
    for index in range(len(dates) - 1, 0, -1):
        match = _JOINS.fullmatch(query, dates[index - 1].end, dates[index].start)
        joins[index] = "" if match is None else match[0].strip().lower()
        before, after = dates[index - 1], dates[index]
        if match and isinstance(before, CalendarDate) and isinstance(after, CalendarDate):
            dates[index - 1] = before.with_year(after.year)
    expressions: list[_Expression] = []
    licensed = is_range_open = False
    word = ""
    for index, first in enumerate(dates):
        if expressions and is_range_open and _closes(word, joins[index]):
            start = expressions.pop()
            opening = _year_before(start.first, first)
            end, _ = _end(query, first.end)
            expressions.append(replace(start, end=end, first=opening, last=first, direction="in"))
            is_range_open = False
            continue
        lead = _LEAD.search(query, max(first.start - _LEAD_LENGTH, 0), first.start)
        is_joined = bool(joins[index]) and bool(licensed)
        if not is_joined:
            word = " ".join((lead["word"] or "").lower().split()) if lead else ""
        part = lead["part"] if lead else None
        is_bare = isinstance(first, CalendarDate) and first.is_bare
        next_join = joins[index + 1] if index + 1 < len(dates) else ""
        is_pair = isinstance(first, CalendarDate) and _is_pair(first, dates, index, next_join)
        is_adjective = lead is not None and lead["the"] and not part  # `before the March release`
        licensed = not is_bare or is_joined or bool(part) or is_pair
        licensed = licensed or (word in _LICENSING and not is_adjective)
        if not licensed:
            continue
        end, onwards = _end(query, first.end)
        begin = first.start if lead is None else lead.start()
        if is_joined and expressions:
            begin = expressions[-1].end
        direction = _DIRECTIONS.get(word, "in")
        is_range_open = word in ("between", "from") or next_join in _RANGE_JOINS
        expressions.append(
            _Expression(
                start=begin,
                end=end,
                first=first,
                last=first,
                direction="since" if onwards and word == "from" else direction,
                is_whole_week=bool(part) and (part or "").lower().startswith("week"),
                may_be_name=is_bare and word not in _NEVER_BEFORE_NAMES,
            )
        )
    return expressions


def _is_pair(
    first: CalendarDate, dates: Sequence[CalendarDate | RelativeDate], index: int, join: str
) -> bool:
    """Return whether a bare month or quarter begins a range: `March to May`, `Q1 to Q3 2026`."""
    is_year = (first.first_month, first.last_month) == (1, 12)
    if join not in _RANGE_JOINS or is_year:
        return False
    return isinstance(dates[index + 1], CalendarDate)


def _year_before(
    first: CalendarDate | RelativeDate, last: CalendarDate | RelativeDate
) -> CalendarDate | RelativeDate:
    """Return `first` a year earlier if it is after `last`: `November and February 2026`."""
    if isinstance(first, RelativeDate) or isinstance(last, RelativeDate) or last.year is None:
        return first
    is_after = first.year == last.year and first.first_month > last.last_month
    return replace(first, year=last.year - 1) if is_after else first


def _closes(word: str, join: str) -> bool:
    """Return whether a date is the end of a range, given the words before both dates."""
    return join in _RANGE_JOINS or (word == "between" and join == "and")


def _end(query: str, end: int) -> tuple[int, bool]:
    """Return where the words of a date end, and whether they end with `onwards`."""
    match = _TRAIL.match(query, end)
    if match is None:
        return end, False
    is_possessive = match[0][0] in "'’"
    follows = re.match(r"\s*(?:$|[^\w\s])", query[match.end() :])
    if match[0].strip().lower() == "on" and not follows:  # `from March on the rollout`
        return end, False
    return match.end(), not is_possessive


def _is_within(expression: _Expression, names: Sequence[Span]) -> bool:
    first = expression.first
    return any(start < first.end and first.start < end for start, end in names)


def _resolve(
    query: str, expression: _Expression, today: date, documents: DocumentDates
) -> ReadDate:
    typed = " ".join(query[expression.start : expression.end].split())
    text = _AROUND.sub("", typed)
    first, last = expression.first, expression.last
    if isinstance(first, RelativeDate) or isinstance(last, RelativeDate):
        ends = _fixed(first, today), _fixed(last, today)
        return ReadDate(text, _directed(ends[0][0], ends[1][1], expression), is_relative=True)
    options = [
        dates
        for year in _years(last.year, today, documents)
        if (dates := _within(first, last, year)) is not None
    ]
    if not options:  # a 29 February that no year of the base has
        options = [(today, today)]
    past = [dates for dates in options if dates[0] <= today]
    future = [dates for dates in options if dates[0] > today]
    ordered = past + future[::-1]
    with_documents = (dates for dates in ordered if documents.any_in(_directed(*dates, expression)))
    chosen = next(with_documents, ordered[0])
    period = _directed(*chosen, expression)
    is_named = expression.direction == "in" and not expression.is_whole_week and first is last
    return ReadDate(text, period, period if is_named and not first.is_day_range else None)


def _fixed(dates: CalendarDate | RelativeDate, today: date) -> tuple[date, date]:
    if isinstance(dates, RelativeDate):
        return dates.first, dates.last
    return dates.within(dates.year or today.year) or (today, today)


def _years(year: int | None, today: date, documents: DocumentDates) -> Sequence[int]:
    """Return the years in which a date may be, latest first."""
    if year is not None:
        return (year,)
    first = max(min(documents.first_year or today.year, today.year) - 1, FIRST_YEAR)
    return range(today.year + 1, first - 1, -1)


def _within(first: CalendarDate, last: CalendarDate, year: int) -> tuple[date, date] | None:
    ends = last.within(last.year or year)
    begins = first.within(first.year or year)
    if begins and ends and begins[0] > ends[1] and first.year is None:
        begins = first.within(year - 1)  # `between November and February`
    if begins is None or ends is None:
        return None
    return begins[0], max(ends[1], begins[1])


def _directed(first: date, last: date, expression: _Expression) -> Period:
    if expression.is_whole_week:
        first, last = week_of(first)[0], week_of(last)[1]
    match expression.direction:
        case "since":
            return Period(first.isoformat(), "")
        case "after":
            return Period((last + DAY).isoformat(), "")
        case "before":
            return Period("", (first - DAY).isoformat())
        case "until":
            return Period("", last.isoformat())
    return days(first, last)


def _without(query: str, spans: Sequence[Span]) -> str:
    """Return a query without some spans, and without punctuation that then begins or ends it."""
    if not spans:
        return query
    rest, end = [], 0
    for start, stop in spans:
        rest.append(query[end:start])
        end = stop
    rest.append(query[end:])
    joined = re.sub(r"\s+([,.;:?!])", r"\1", " ".join(" ".join(rest).split()))
    return joined.strip(" ,;:.")
