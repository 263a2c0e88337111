"""Numbers with their units, frequencies, dates and times in a text, as comparable values. Pure.

`3 days` equals `72 hours`, `5 kg` does not equal `5 g`. A number without a unit matches any unit,
and a rounded measure matches the exact one (`0.44 percent`, `0.4 %`). `17 March 2026` has a year, a
month and a day, `on Friday` a weekday, `Q3` a quarter: two texts disagree if both give a component
but have no value of it in common.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, cast

from kbx_tui.knowledge.dates import MONTH_NAMES, MONTH_NUMBERS, WEEKDAY_NUMBERS

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty"""
NUMBER_WORDS: dict[str, int] = {word: value for value, word in enumerate(_SMALL.split())} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6,
    "billion": 10**9, "both": 2,
}  # fmt: skip

_SCALES = {
    "k": 3, "thousand": 3, "thousands": 3, "m": 6, "mn": 6, "million": 6, "millions": 6,
    "b": 9, "bn": 9, "billion": 9, "billions": 9, "hundred": 2,
}  # fmt: skip

_UNITS: dict[str, tuple[str, str]] = {}
for _measure, _table in {
    "time": "ms msec millisecond=0.001 s sec second=1 min minute=60 h hr hour=3600 day=86400 "
    "wk week=604800 fortnight=1209600 month=2592000 quarter=7776000 year yr=31104000",
    "bytes": "kb=1e3 mb=1e6 gb=1e9 tb=1e12",
    "mass": "mg=0.001 g gram=1 kg kilo kilogram=1000 lb pound=453.6 oz ounce=28.35 tonne=1e6",
    "volume": "ml=1 cl=10 l litre liter=1000",
    "length": "mm=0.001 cm=0.01 meter metre=1 km kilometer kilometre=1000 mile=1609 "
    "ft foot feet=0.3048",
    "share": "% percent pct per-cent=1 bp bps=0.01",
    "dollar": "$ usd dollar=1 cent=0.01",
    "euro": "€ eur euro=1",
    "pound": "£ gbp=1",
}.items():
    _synonyms: list[str] = []
    for _word in _table.split():
        _name, _, _size = _word.partition("=")
        _synonyms.append(_name)
        if _size:
            _UNITS |= dict.fromkeys(_synonyms, (_measure, _size))
            _synonyms = []

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}

_DIGITS = r"""(?P<before>[$€£])?
    (?<![\w.])(?P<digits>
    -?\d+(?:,\d{3})+(?:\.\d+)? | -?\d{1,3}(?:[ ]\d{3})+(?!\w|\.\d) | -?\d+(?:\.\d+)?)
    (?P<ordinal>st|nd|rd|th)?(?:[\s-]*(?P<after>%|[$€£](?!\d)|[a-zA-Z]+))?"""
_AFTER_SCALE = re.compile(r"\s*([$€£](?!\d)|[a-zA-Z]+)")
_NUMERALS = frozenset((*NUMBER_WORDS, *_ORDINALS))
_WORDS = rf"""(?<![\w'])(?P<word>(?ai:{"|".join(sorted(_NUMERALS))})(?![a-zA-Z]))
    (?:[\s-]+(?P<unit>[a-zA-Z]+))?"""
_IN_DIGITS = re.compile(rf"(?x){_DIGITS}")
_NUMBER = re.compile(rf"(?x){_DIGITS} | {_WORDS}")
_LETTERS = re.compile("[a-z]+")


CONVERTED, ROUGH = Decimal("0.01"), Decimal("0.1")
"""Shares by which equal quantities may differ: of two units, and where one is said to be rough."""
_BOUND = re.compile(
    r"(?i)(?:(?P<about>\b(?:about|around|roughly|nearly|almost|circa|ca\.?|approx(?:imately|\.)?|some)"
    r"|~)|\b(?P<most>no more than|at most|up to|maximum of)|(?P<less>\b(?:less|fewer) than)"
    r"|\b(?P<least>no less than|at least|minimum of)|(?P<more>\bmore than))\s*[$€£]?$"
)
_LOWER = ("least", "more")


@dataclass(frozen=True, slots=True)
class Quantity:
    figure: Decimal
    """The number in its own unit, with its scale (thousand, k) applied."""
    size: Decimal
    """Size of its unit in base units: 3600 for an hour, 1 for a bare number."""
    measure: str
    """Dimension: `time`, `mass`, `share`, ...; `ordinal` for a rank; empty for a bare number."""
    written: str
    start: int
    end: int
    bound: str = ""
    """`about`, `most`, `less`, `least` or `more` where it is said to be: `about 300`."""

    @property
    def value(self) -> Decimal:
        return self.figure * self.size


def find_quantities(
    text: str, excluded: Callable[[], Iterable[tuple[int, int]]] = tuple
) -> tuple[Quantity, ...]:
    """Return the numbers of a text outside of `excluded`, which is asked only if there are any."""
    numbers = []
    offset = 0
    spelled_out = not _NUMERALS.isdisjoint(_LETTERS.findall(text.lower()))
    pattern = _NUMBER if spelled_out else _IN_DIGITS  # the pattern for words is slow
    while match := pattern.search(text, offset):
        offset = match.end()
        if any(start < match.end() and match.start() < end for start, end in excluded()):
            continue
        quantity = _from_digits(match) if match["digits"] else _from_words(match)
        if quantity is not None:
            start = quantity.start
            bound = _BOUND.search(text, max(0, start - 20), start)
            kind = bound.lastgroup if bound else None
            if bound and kind:
                written = text[bound.start() : quantity.end]
                quantity = replace(quantity, bound=kind, start=bound.start(), written=written)
            numbers.append(quantity)
            offset = quantity.end
        elif match["word"]:
            offset = match.end("word")
    return tuple(numbers)


def unmatched_quantities(
    left: Sequence[Quantity], right: Sequence[Quantity]
) -> tuple[list[Quantity], list[Quantity]]:
    rest, unpaired = list(right), []
    for quantity in left:
        partner = next((other for other in rest if is_same_quantity(quantity, other)), None)
        if partner is None:
            unpaired.append(quantity)
        else:
            rest.remove(partner)
    return unpaired, rest


def is_same_quantity(one: Quantity, other: Quantity) -> bool:
    if "ordinal" in (one.measure, other.measure) and one.measure != other.measure:
        return False
    if one.bound != other.bound and one.measure == other.measure:
        if "about" in (one.bound, other.bound) and _is_near(one.value, other.value, ROUGH):
            return True
        bound, exact = (one, other) if one.bound else (other, one)
        is_lower = bound.bound in _LOWER
        if not exact.bound and bound.bound != "about":
            return exact.value >= bound.value if is_lower else exact.value <= bound.value
        if is_lower != (exact.bound in _LOWER):
            return False
    if not (one.measure and other.measure):  # at least one has no unit
        return _equal(one.figure, other.figure, is_measure=bool(one.measure or other.measure))
    if one.measure != other.measure:
        return False
    if one.size != other.size:
        return _is_near(one.value, other.value, CONVERTED)  # 260 pounds is about 117 kg
    return _equal(one.figure, other.figure, is_measure=True)


def _is_near(one: Decimal, other: Decimal, share: Decimal) -> bool:
    return abs(one - other) <= max(abs(one), abs(other)) * share


def _equal(one: Decimal, other: Decimal, *, is_measure: bool) -> bool:
    return (
        one == other
        or _is_rounded(one, other, is_measure=is_measure)
        or _is_rounded(other, one, is_measure=is_measure)
    )


def _is_rounded(rough: Decimal, exact: Decimal, *, is_measure: bool) -> bool:
    places = rough.as_tuple().exponent
    if not isinstance(places, int) or not (is_measure or places > 0):
        return False  # 3.1 and 3.11 may be version numbers
    return (
        places > int(exact.as_tuple().exponent)
        and exact.quantize(Decimal(1).scaleb(places)) == rough
    )


def _from_digits(match: re.Match[str]) -> Quantity | None:
    value, end = Decimal(match["digits"].replace(",", "").replace(" ", "")), match.end("digits")
    if match["ordinal"]:
        start, end = match.start("digits"), match.end("ordinal")
        return Quantity(value, Decimal(1), "ordinal", match.string[start:end], start, end)
    after = (match["after"] or "").lower()
    if after in _SCALES:
        value, end = value.scaleb(_SCALES[after]), match.end()
        unit = _AFTER_SCALE.match(match.string, end)  # `54k EUR`
        after = unit[1].lower() if unit else ""
    else:
        unit = match
    measure, size = _UNITS.get(match["before"] or "") or _unit(after)
    if unit and _unit(after)[0]:
        end = unit.end()
    start = match.start()
    return Quantity(value, Decimal(size), measure, match.string[start:end], start, end)


def _from_words(match: re.Match[str]) -> Quantity | None:
    word, unit = match["word"].lower(), (match["unit"] or "").lower()
    if word in _ORDINALS:
        if word in ("first", "second") and not unit:
            return None  # `tried on a ferry first`, `for a second`
        rank = Decimal(_ORDINALS[word])
        return Quantity(rank, Decimal(1), "ordinal", match["word"], *match.span("word"))
    value, end = Decimal(NUMBER_WORDS[word]), match.end("word")
    if unit in NUMBER_WORDS:
        more = NUMBER_WORDS[unit]
        value = value * more if more >= 100 or unit == "dozen" else value + more
        end, unit = match.end(), ""
    measure, size = _unit(unit)
    if measure:
        end = match.end()
    written = match.string[match.start() : end]
    return Quantity(value, Decimal(size), measure, written, match.start(), end)


def _unit(word: str) -> tuple[str, str]:
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s")) or ("", "1")


_PERIODS = {word: Decimal(size) for word, (measure, size) in _UNITS.items() if measure == "time"}
_PERIODS |= dict.fromkeys(("night", "morning", "afternoon", "evening"), _PERIODS["day"])
_PERIODS |= dict.fromkeys(WEEKDAY_NUMBERS, _PERIODS["week"])
_ADVERBS = {
    "hourly": "hour", "daily": "day", "nightly": "day", "weekly": "week", "biweekly": "fortnight",
    "bi-weekly": "fortnight", "fortnightly": "fortnight", "monthly": "month",
    "quarterly": "quarter", "yearly": "year", "annually": "year",
}  # fmt: skip
_TIMES = NUMBER_WORDS | _ORDINALS | {"other": 2, "single": 1, "once": 1, "twice": 2}
_FREQUENCY = re.compile(
    rf"""(?xi)\b(?:(?P<times>once|twice|\w+(?=\ times\b)|\d+(?=\ ?[x×]\ ))(?:\ times|\ ?[x×])?\ )?
    (?:(?:every|each|(?(times)(?:an?|per)|(?!)))(?:\ (?P<step>\w+))?\ (?P<period>
    {"|".join(_PERIODS)})s?(?!,|\ and\b|\ or\b|\ of\b)|(?P<adverb>{"|".join(_ADVERBS)}))\b"""
)
"""`Every Monday and Friday` and `every first Monday of the month` are none."""


def find_frequencies(text: str) -> dict[Decimal, str]:
    """Return the seconds from one time to the next, with the words that say so: `once a week`."""
    found = {}
    for match in _FREQUENCY.finditer(text):
        times, step = (_count(match[group] or "once") for group in ("times", "step"))
        if times and step:
            period = _ADVERBS.get((match["adverb"] or "").lower()) or match["period"].lower()
            found[_PERIODS[period] * step / times] = match[0]
    return found


def _count(word: str) -> int:
    is_number = word.isascii() and word.isdigit()
    return int(word) if is_number else _TIMES.get(word.lower(), 0)


def is_same_frequency(one: Decimal, other: Decimal) -> bool:
    return _is_near(one, other, ROUGH)  # a month is not quite four weeks


Part = Literal[
    "year", "season", "quarter", "month", "stage", "day", "weekday", "hour", "when"
]  # fmt: skip

_NAMES = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_DAY = r"\d{1,2})(?:st|nd|rd|th)?"
_TO = r"\s*(?:-|–|to|until|till|through)\s*"

_STAGE = re.compile(
    r"(?i)\b(?:(early|mid|late)[\s-]+|(?:the )?(start|beginning|middle|end) of (?:the )?)\Z"
)
_THIRDS = {"early": 1, "start": 1, "beginning": 1, "mid": 2, "middle": 2, "late": 3, "end": 3}
"""Thirds of a month, quarter or year."""
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Their first months, in the north."""

_ISO = re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?(?![\d-])")
_DAY_MONTH = re.compile(
    rf"(?i)(?<![\w.])(?:(?P<other>{_DAY}{_TO})?(?P<day>{_DAY}\s+(?:of\s+)?(?P<month>{_NAMES})\b\.?"
    r"(?:,?\s+(?P<year>\d{4})\b)?"
)
_MONTH_DAY = re.compile(
    rf"(?i)\b(?P<month>{_NAMES})\b\.?\s+(?P<day>{_DAY}\b(?![:.]\d)"
    rf"(?:{_TO}(?P<other>{_DAY}\b(?![:.]\d|\s*(?:[ap]\.?m|(?:of\s+)?(?:{_NAMES}))\b))?"
    r"(?:,?\s+(?P<year>\d{4})\b)?"
)
_MONTH_YEAR = re.compile(rf"(?i)\b(?P<month>{_NAMES})\b\.?,?\s+(?P<year>\d{{4}})\b")
_MONTH_ALONE = re.compile(
    r"\b(?P<month>January|February|(?<!^)March|April|June|July|August|"
    r"September|October|November|December|"
    r"(?:(?<=in )|(?<=of )|(?<=late )|(?<=early )|(?<=mid[ -]))May)\b"
)
_WEEKDAY_ALONE = re.compile(rf"(?i)\b(?P<weekday>{'|'.join(WEEKDAY_NUMBERS)})s?\b")
_QUARTER = re.compile(
    r"(?i)\b(?:q(?P<quarter>[1-4])|(?P<rank>first|second|third|fourth) quarter)\b"
    r"(?:(?: of)?[\s/-]*(?P<year>\d{4}))?"
)
_SEASON = re.compile(
    rf"(?i)\b(?:in (?:the )?(?P<season>{'|'.join(_SEASONS)})"
    rf"|(?P<dated>{'|'.join(_SEASONS)})(?= (?:of )?\d{{4}}\b))\b(?: (?:of )?(?P<year>\d{{4}})\b)?"
)
_YEAR = re.compile(r"(?:(?<=mid-)|(?<![\w.,-]))(?P<year>19\d\d|20\d\d)(?![\w-]|[.,]\d)")
_TIME = re.compile(
    r"(?i)(?<![\d.:])([01]?\d|2[0-3])(?::([0-5]\d))\s*(a\.?m\b|p\.?m\b)?"
    r"|(?<![\d.:])(1[0-2]|0?[1-9])\s*(a\.?m\b|p\.?m\b)"
)
_YEAR_HINT, _TIME_HINT = re.compile(r"\d{4}"), re.compile(r"(?i)\d(?::\d|\s*[ap]\.?m)")
_WHEN = re.compile(
    r"(?i)\b(?P<when>today|tomorrow|yesterday|tonight|"
    r"(?:last|this|next) (?:week|month|quarter|year|sprint))\b"
)
_PART_OF_GROUP = {"other": "day", "rank": "quarter", "dated": "season"}
_PARTS_OF_WHEN = ("day", "tonight", "tomorrow", "last", "this", "next")


@dataclass(frozen=True, slots=True)
class TemporalExpression:
    part: Part
    value: int | str
    written: str
    start: int
    end: int


def find_temporal_expressions(text: str) -> tuple[TemporalExpression, ...]:
    found: list[TemporalExpression] = []
    earlier: list[TemporalExpression] = []

    def add_all(pattern: re.Pattern[str]) -> None:
        for match in pattern.finditer(text):
            if any(time.start < match.end() and match.start() < time.end for time in earlier):
                continue
            parts = {"hour": _minutes(match)} if pattern is _TIME else match.groupdict()
            written, start = match[0].strip(), match.start()
            if stage := _STAGE.search(text, max(0, start - 20), start):
                parts |= {"stage": stage[1] or stage[2]}
                written, start = stage[0] + written, stage.start()
            for part, value in parts.items():
                if value is not None:
                    named = cast(Part, _PART_OF_GROUP.get(part, part))
                    expression = named, _comparable(value), written, start, match.end()
                    found.append(TemporalExpression(*expression))

    has_year = _YEAR_HINT.search(text) is not None
    if has_year:
        add_all(_ISO)
    earlier, lowered = list(found), text.lower()
    if any(name[:3] in lowered for name in MONTH_NAMES):  # the patterns are slow
        for pattern in (_DAY_MONTH, _MONTH_DAY, _MONTH_YEAR, _MONTH_ALONE):
            earlier = list(found)
            add_all(pattern)
    if any(map(lowered.__contains__, _SEASONS)):
        add_all(_SEASON)
        earlier = list(found)
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


_VALUE_OF_WORD = _ORDINALS | _THIRDS | _SEASONS | WEEKDAY_NUMBERS | MONTH_NUMBERS


def _comparable(value: str | int) -> int | str:
    if isinstance(value, int):
        return value
    word = value.lower()
    return int(word) if word.isdigit() else _VALUE_OF_WORD.get(word, word)


def differing_times(
    left: tuple[TemporalExpression, ...], right: tuple[TemporalExpression, ...]
) -> tuple[list[TemporalExpression], list[TemporalExpression]]:
    left_only: list[TemporalExpression] = []
    right_only: list[TemporalExpression] = []
    for part in sorted({time.part for time in left} & {time.part for time in right} - {"stage"}):
        ours = [time for time in left if time.part == part]
        theirs = [time for time in right if time.part == part]
        if {time.value for time in ours}.isdisjoint(time.value for time in theirs):
            left_only += ours
            right_only += theirs
    return left_only, right_only


_SPAN = re.compile(rf"(?i){_TO}(?:the (?:end|beginning) of )?")
_BEFORE_DATE = re.compile(r"(?i)\b(?:in|on|during)\s+(?:the\s+)?\Z")
_BEFORE_SPAN = re.compile(r"(?i)\b(?:from|during)\s+(?:the\s+)?\Z")
_OF_ONE_DATE = re.compile(r"\s*(?:of\s*)?")


@dataclass(frozen=True, slots=True)
class Period:
    """All that a text says of days, months and years, if that is one date or span."""

    first: tuple[int, int, int]
    """Year, month and day of its beginning; 0 for a year or day that the text leaves out."""
    last: tuple[int, int, int]
    start: int
    """With a word before it that only says that it is a time: `in May`, `from 1 to 3 May`."""
    end: int
    is_span: bool
    is_vague: bool
    """Whether it has no exact edges: `mid-March`, `early 2023`."""

    @property
    def year(self) -> int:
        return self.first[0] or self.last[0]

    def days(self, year: int = 0) -> tuple[date, date]:
        """Return its first and last day; without a year, in `year` or one of 365 days."""
        (first_year, *first), (last_year, *last) = self.first, self.last
        last_day = (last[0], last[1] or 31)
        is_over_new_year = last_day < (first[0], first[1])
        ends = last_year or (first_year or year or 2001) + is_over_new_year
        begins = first_year or ends - is_over_new_year
        return _day(begins, first[0], first[1] or 1), _day(ends, *last_day)


def _day(year: int, month: int, day: int) -> date:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, min(day, monthrange(year, month)[1]))


def find_period(text: str, times: Sequence[TemporalExpression]) -> Period | None:
    """Return the period of a text with these times; None if it has none, several, or hours."""
    groups: list[list[TemporalExpression]] = []
    for time in sorted(times, key=lambda time: time.start):
        if time.part in ("weekday", "hour", "when"):
            return None
        before = groups[-1][-1].end if groups else time.start
        if groups and _OF_ONE_DATE.fullmatch(text[before : time.start]):
            groups[-1].append(time)
        else:
            groups.append([time])
    if not 1 <= len(groups) <= 2:
        return None
    if len(groups) == 2 and not _SPAN.fullmatch(text[groups[0][-1].end : groups[1][0].start]):
        return None
    begins, ends = _edges(groups[0]), _edges(groups[-1])
    is_span = len(groups) == 2 or begins[0][2] != ends[1][2]
    start = groups[0][0].start
    if joined := (_BEFORE_SPAN if is_span else _BEFORE_DATE).search(text, 0, start):
        start = joined.start()
    is_vague = any(time.part == "stage" for time in times)
    return Period(begins[0], ends[1], start, groups[-1][-1].end, is_span, is_vague)


def _edges(times: Sequence[TemporalExpression]) -> tuple[tuple[int, int, int], ...]:
    values = {time.part: cast(int, time.value) for time in times}
    days = [cast(int, time.value) for time in times if time.part == "day"]
    year, third = values.get("year", 0), values.get("stage", 0)
    if "season" in values:
        first = values["season"]
        is_winter = first == 12
        return (year, first, 0), (year + (is_winter and year > 0), 2 if is_winter else first + 2, 0)
    first, last = 1, 12
    if "month" in values:
        first = last = values["month"]
    elif "quarter" in values:
        first = 3 * values["quarter"] - 2
        last = first + 2
    if third and first < last:
        months = (last - first + 1) // 3
        first, last = first + months * (third - 1), first + months * third - 1
    elif third and not days:
        days = [10 * third - 9, 10 * third if third < 3 else 31]
    days = days or [0]
    return (year, first, days[0]), (year, last, days[-1])


def is_part_of(one: Period, other: Period) -> bool:
    """Return whether all days of a period are among those of another.

    A month without a year does not count as part of a whole year.
    """
    first, last = one.days(other.year)
    begins, ends = other.days(one.year)
    if (first, last) == (begins, ends) and one.is_vague and not other.is_vague:
        return False
    is_whole_year = ends - begins >= timedelta(days=364)
    return begins <= first and last <= ends and (one.year > 0 or not is_whole_year)


def are_apart(one: Period, other: Period) -> bool:
    """Return whether periods within a year have no day in common.

    A vague one may begin earlier and end later, each by half its length.
    """
    (first, last), (begins, ends) = one.days(other.year), other.days(one.year)
    is_within_a_year = first.year == last.year == begins.year == ends.year
    slack = (last - first) / 2 * one.is_vague + (ends - begins) / 2 * other.is_vague
    return is_within_a_year and (last + slack < begins or ends + slack < first)


def is_next_to(one: Period, other: Period) -> bool:
    """Return whether a period begins on the day after the other, in a year that fits."""
    first, next_day = one.days(other.year)[0], other.days(one.year)[1] + timedelta(days=1)
    have_years = one.year and other.year
    return next_day == first if have_years else next_day.timetuple()[1:3] == first.timetuple()[1:3]


_WEEKDAYS = {name[:3]: name for name in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")}
_SHORT_WEEKDAY = re.compile(r"\b(Mon|Tue|Tues|Wed|Weds|Thu|Thur|Thurs|Fri)\b\.?")
"""Not `Sat` and `Sun`, which are words, too."""


def with_full_weekdays(text: str) -> str:
    """Return a text with `Friday` for `Fri`, as the pair model knows it."""
    return _SHORT_WEEKDAY.sub(lambda match: _WEEKDAYS[match[1][:3]], text)


def _minutes(match: re.Match[str]) -> int:
    hour, minute = int(match[1] or match[4]), int(match[2] or 0)
    half = (match[3] or match[5] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour * 60 + minute
