"""Dates of documents, from frontmatter, file name or folders, and names of months and weekdays."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from kbx_tui.knowledge.fields import link_target, stem_of, texts_of
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.markdown import end_of_top
from kbx_tui.knowledge.titles import heading_of

_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"

MONTH_NAMES = tuple(_MONTHS.split())
MONTH_NUMBERS = MappingProxyType(
    {name: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {"sept": 9}
)
WEEKDAY_NUMBERS = MappingProxyType({name: n for n, name in enumerate(_WEEKDAYS.split(), 1)})

_OTHER_MONTHS = (
    "januar janner janvier janv enero ene gennaio genn janeiro januari stycznia январь января янв",
    "februar feber fevrier fevr febrero febbraio febbr fevereiro fev februari lutego"
    " февраль февраля февр фев",
    "marz maerz mrz mars marts marzo marco maart mrt marca март марта мар",
    "avril avr abril abr aprile kwietnia апрель апреля апр",
    "mai mayo maggio magg maio mei maj maja май мая",
    "juni juin junio giugno giu junho czerwca июнь июня июн",
    "juli juillet juil julio luglio lug julho lipca июль июля июл",
    "aout agosto augustus sierpnia август августа авг",
    "septembre septiembre settembre sett setembro wrzesnia сентябрь сентября сент сен",
    "oktober octobre octubre ottobre ott outubro okt pazdziernika октябрь октября окт",
    "novembre noviembre novembro listopada ноябрь ноября нояб ноя",
    "dezember decembre diciembre dic dicembre desember dezembro dez grudnia декабрь декабря дек",
)
"""Folded names and abbreviations in German, French, Spanish, Italian, Portuguese, Dutch, Polish,
Scandinavian languages and Russian, without those that are English words (`ago`, `set`)."""
WRITTEN_MONTHS = MONTH_NUMBERS | {
    name: number for number, names in enumerate(_OTHER_MONTHS, 1) for name in names.split()
}
"""The numbers of months by their names in several languages, folded."""
ENGLISH_WORDS = frozenset({"lug", "marts", "mrt", "ott", "sett"})
"""Foreign months that are English words or initials, too: they are months only beside a day."""

_ISO = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_BEFORE, _YEAR = r"(?<![^\W_])", r"(?P<year>(?:19|20)\d\d)"
_ANY_MONTH = rf"(?:{'|'.join(sorted(WRITTEN_MONTHS, key=len, reverse=True))})(?![^\W_])"
_MONTH_WORD = rf"(?P<word>{_ANY_MONTH})\.?"
_MONTH_ALONE = rf"(?!(?:{'|'.join(sorted(ENGLISH_WORDS))})(?![^\W_])){_MONTH_WORD}"
_DAY_WORD = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_GAP, _OF = r"(?:,?[ _-]+|,|(?<=\.))", r"(?:(?:of|de|del|di)[ _-]+)?"
_DAYS = tuple(
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?!\d)",
        rf"(?<![\dv]){_YEAR}(?P<gap>[._/]|\. )(?P<month>\d{{1,2}})(?P=gap)(?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d)(?:[t_-]?\d{{4}}(?:\d\d(?:\d{{3}})?)?)?(?!\d)",
        rf"(?<![\d.])(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?{_YEAR}(?!\d)",
        rf"{_BEFORE}{_DAY_WORD}[ _-]*{_OF}{_MONTH_WORD}{_GAP}{_OF}{_YEAR}(?!\d)",
        rf"{_BEFORE}{_MONTH_WORD}[ _-]*{_DAY_WORD}{_GAP}{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}{_GAP}{_MONTH_WORD}[ _-]*(?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d)(?P<day>1[3-9]|2\d|3[01])(?P<gap>[-/])(?P<month>\d{{1,2}})(?P=gap){_YEAR}(?!\d)",
        rf"(?<!\d)(?P<month>\d{{1,2}})(?P<gap>[-/])(?P<day>1[3-9]|2\d|3[01])(?P=gap){_YEAR}(?!\d)",
        rf"{_YEAR}[年년] ?(?P<month>\d{{1,2}})[月월] ?(?P<day>\d{{1,2}})[日号號일]",
    )
)
"""Forms of a day, in folded text: `2026-03-17`, `2026.03.17`, `202603170930`, `17.3.2026`,
`17th of March 2026`, `March 17th, 2026`, `2026-Mar-17`, `17/3/2026` where the order is certain,
`2026年3月17日`. Of those in a text, the first form counts."""
_UNDOTTED_DAYS = (_DAYS[0], *_DAYS[2:])
_MONTHS_OF_YEAR = tuple(
    re.compile(form)
    for form in (
        rf"(?<!\d)(?<!\d[-_.]){_YEAR}[-_.](?P<month>0[1-9]|1[0-2])(?![^\W_]|[-_.]\d)",
        rf"{_BEFORE}{_MONTH_ALONE}{_GAP}{_OF}{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}{_GAP}{_MONTH_ALONE}",
        rf"{_YEAR}[年년] ?(?P<month>\d{{1,2}})[月월]",
    )
)
_WEEK_WORD = "(?:wk?|kw|cw|week|woche|semaine|semana|settimana|vecka|uge|uke)"
_SPANS = tuple(
    re.compile(form)
    for form in (
        rf"(?<!\d){_YEAR}[ _-]*{_WEEK_WORD}[ _-]*(?P<week>\d{{1,2}})(?!\d)",
        rf"{_BEFORE}{_WEEK_WORD}[ _-]*(?P<week>\d{{1,2}})[ _,/-]+{_OF}{_YEAR}(?!\d)",
        rf"{_YEAR}[年년] ?第?(?P<week>\d{{1,2}})[週周주]",
        rf"(?<!\d){_YEAR}[ _-]*q(?P<quarter>[1-4])(?![^\W_])",
        rf"{_BEFORE}q(?P<quarter>[1-4])[ _/-]*{_YEAR}(?!\d)",
    )
)
_NUMBERED = re.compile(r"(?<![^\W_])[A-Z]{2,}-\d{4}-\d{1,2}(?![-\d])")
"""A number of a year, as `INC-2026-05`, which is not a month."""
_YEAR_IN_FOLDER = re.compile(r"(?:19|20)\d\d[^/]*/")
_VERSION = re.compile(r"\d{4}\.(?:\d|\d\d\.\d)(?!\d)")
"""A folder of a version, as `2024.12.1`: with dots, a month and a day have two digits."""
_DOTTED = re.compile(r"(?<!\d)\d{4}\.\d{1,2}\.\d{1,2}(?!\d)")
_FIRST_VERSION = re.compile(r"(?<!\d)(?:19|20)\d\d\.\d{1,2}\.0(?!\d)")
_DATE_FOLDERS = re.compile(
    r"(?:^|/)((?:19|20)\d\d)[年년]?/(?:\1[-_])?"
    rf"(?:(\d{{2}}|\d(?=[月월]))[月월]?(?:[ ._-]+{_ANY_MONTH})?|({_ANY_MONTH}))"
    r"(?:[/-](\d{2}))?(?=/|\.md\Z)"
)
"""A date given by the names of folders and file: a year, then a month, and perhaps a day. In folded
text: `2026/03/17`, `2026/2026-03`, `2026/03 March`, `2026/March`."""
_MONTH_VALUE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?")
_TIMESTAMP = re.compile(r"(\d{10})(\d{3})?")
"""Seconds or milliseconds since 1970, as Dendron writes them."""
_DATE_KEYS = (
    "date", "datum", "fecha", "data", "дата", "日付", "日期", "날짜", "datetime", "meetingdate",
    "day",
)  # fmt: skip
_DOUBTFUL_KEYS = frozenset({"data", "day"})
"""Those that often mean something else: they count only where the whole value is a day."""
_CREATED_KEYS = (
    "created", "createdat", "createdtime", "datecreated", "creationdate", "issued", "published",
    "publishedat", "datepublished", "publishdate", "publicationdate", "pubdate", "pubdatetime",
    "createddate", "createdon", "erstellt", "erstelltam", "cree", "creele", "creado", "creato",
    "criado", "создано", "作成日", "作成日時",
)  # fmt: skip
"""Properties, folded, without what separates their words."""
_YEAR_KEYS = ("year", "jahr", "annee", "ano", "anno", "год", "年")
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
"""The years before the first one of the eras by which Japanese documents count."""
_ERA_YEAR = re.compile(rf"({'|'.join(_ERAS)}) ?(元|\d{{1,2}}) ?年")
_WRITTEN_NUMBER = re.compile(
    "(?<![〇一二三四五六七八九十])"
    "(?:[〇一二三四五六七八九]{4}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九]〇?)"
    "(?=[年月日])"
)
_DIGITS = str.maketrans("〇一二三四五六七八九", "0123456789")
_DATE_LINE = re.compile(
    r"^(?:\d{1,2}[.)])?[ \t>|*_-]*+"
    r"(?P<key>(?:meeting )?date(?: of \w{1,20}| ?(?:and|&|/) ?time)?|when|datum|fecha|data|дата"
    r"|日付|日期|日時|開催日時?|날짜|일시)"
    r"(?:[*_]*[ \t]*[:：|]|(?<=[付期時日])\u3000)[*_]*[ \t]*(?P<value>\S[^\n]*)$",
    re.I | re.M,
)
_BESIDE_DAY = re.compile(
    r"\A(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:lune|marte|mercole|giove|vener)di|sabato"
    r"|domenica|(?:segunda|terca|quarta|quinta|sexta)(?:-feira)?|sabado|domingo)(?:, ?| )"
    r"|\A(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim"
    r"|mie|jue|vie|sab|dom|gio|seg|ter|qua|qui|sex)\.?, ?"
    r"|(?:t|,? (?:at |alle |ore |as )?)\d{1,2}(?:[:h.]\d\d){1,2}(?:\.\d+)? ?"
    r"(?:z|h|[ap]m|[+-]\d\d:?\d\d)?\Z"
)
"""A weekday before a day, and a time after it, in folded text."""
_YEAR_DIGITS = re.compile(r"(?:19|20)\d\d|\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class DailyNotes:
    moment_format: str = "YYYY-MM-DD"
    folder: str = ""

    def date_of(self, path: str) -> str:
        prefix = f"{self.folder}/" if self.folder else ""
        stem = path.rpartition(".")[0]
        if not stem.startswith(prefix):
            return ""
        return date_in_format(stem.removeprefix(prefix), self.moment_format)


def date_of(
    frontmatter: Mapping[str, Any],
    path: str,
    daily_notes: DailyNotes | None = None,
    body: str = "",
    version_folders: Sequence[str] = (),
) -> str:
    """Return the ISO date of a document, empty if it has none: of a day or a longer time.

    Tried in order are `date:`, its name as that of a daily note, a day in its file name, its
    folders (``2026/03/17/``), a line ``Date:`` at the top, a day in its first heading of level 1, a
    month, week or quarter in its file name, a month of its folders, `created:`, `year:` and a file
    name that is a year. A week or quarter is written as its first and last day, the latter
    without what they share: `2026-03-16/22`, `2026-03-30/04-05`.
    """
    values = {"".join(filter(str.isalnum, fold(key))): frontmatter[key] for key in frontmatter}
    dotted = _DOTTED.search(path) if version_folders else None
    is_version = dotted and _folder_of(path, dotted) in version_folders
    forms = _UNDOTTED_DAYS if is_version else _DAYS
    name, place = stem_of(path), _date_of_folders(path, forms)
    stem = _folded(_NUMBERED.sub("", name))
    return (
        _date_in_values(values, _DATE_KEYS)
        or (daily_notes.date_of(path) if daily_notes else "")
        or day_in(stem, forms)
        or (place if len(place) > len("2026-03") else "")
        or _day_at_top(body, forms)
        or _part_of_year_in(stem)
        or place
        or _date_in_values(values, _CREATED_KEYS)
        or _date_in_values(values, _YEAR_KEYS, _year_of)
        or _year_of(name)
    )


def folder_of_version(path: str) -> str | None:
    """Return the folder of a name such as `2024.12.0`, beside which `2024.12.10` is not a day."""
    match = _FIRST_VERSION.search(path) if ".0" in path else None
    return _folder_of(path, match) if match else None


def _folder_of(path: str, match: re.Match[str]) -> str:
    return path[: match.start()].rpartition("/")[0]


def first_day(date: str) -> str:
    """Return the first day of the day, week, month or year that an ISO date means."""
    return f"{date}-01-01"[: len("2026-03-17")]


def iso_date(text: str) -> str:
    """Return the date in a text as ``YYYY-MM-DD``, empty if there is no valid one.

    A date that starts with the year may be followed by other text. Numeric days and months are read
    only where their order is certain: after the year, or separated by dots.
    """
    if match := _ISO.match(text):
        return _valid_iso(match[1], match[3], match[4])
    return whole_day(text)


def _folded(text: str) -> str:
    """Return a text folded, with the years of Japanese eras as those of the calendar."""
    if "年" in text:
        text = _ERA_YEAR.sub(_year_in_era, _WRITTEN_NUMBER.sub(_in_digits, text))
    return fold(text)


def _in_digits(match: re.Match[str]) -> str:
    """Return `2023` for 二〇二三, and `25` for 二十五."""
    tens, ten, ones = match[0].translate(_DIGITS).partition("十")
    return f"{tens or 1}{ones or 0}" if ten else tens


def _year_in_era(match: re.Match[str]) -> str:
    return f"{_ERAS[match[1]] + (1 if match[2] == '元' else int(match[2]))}年"


def whole_day(text: str) -> str:
    """Return the day that a text is and nothing else, empty if it is not one."""
    folded = _folded(text)
    matches = (form.fullmatch(folded) for form in _DAYS)
    return next((_iso_of(match) for match in matches if match), "")


def only_day(text: str) -> str:
    """Return the day that a text is, perhaps with its weekday and a time, and nothing else."""
    return whole_day(_BESIDE_DAY.sub("", _folded(text.strip(" |*_"))))


def _date_in_values(
    values: Mapping[str, Any], keys: Iterable[str], read: Callable[[str], str] | None = None
) -> str:
    found = (
        _date_in_value(values[key], read or (only_day if key in _DOUBTFUL_KEYS else _date_in_text))
        for key in keys
        if key in values
    )
    return next(filter(None, found), "")


def _date_in_value(value: object, read: Callable[[str], str]) -> str:
    """Return the date in a property: a day, month, year, link to a daily note or timestamp.

    Of a mapping, such as one of a start and an end, that is the earliest.
    """
    if isinstance(value, Mapping):
        dates = (_date_in_value(each, read) for each in value.values())
        return min(filter(None, dates), default="")
    texts = [link_target(text) for text in texts_of(value)]
    if not texts:
        return ""
    if date := read(texts[0]):
        return date
    return read(", ".join(texts)) if len(texts) == 2 else ""  # [[March 17th, 2026]]


def _date_in_text(text: str) -> str:
    folded = _folded(text)
    if iso := iso_date(text) or day_in(folded.rpartition("/")[2]) or day_in(folded):
        return iso
    if _MONTH_VALUE.fullmatch(text):
        return _valid_iso(text[:4], text[5:], 1)[:7] if "-" in text else _year_of(text)
    if match := _TIMESTAMP.fullmatch(text):
        return datetime.fromtimestamp(int(match[1]), UTC).date().isoformat()
    return _part_of_year_in(folded)


def day_in(text: str, forms: Sequence[re.Pattern[str]] = _DAYS) -> str:
    """Return the first day in a text, such as a file name; empty without one."""
    folded = _folded(text)
    if not _YEAR_DIGITS.search(folded):  # spares a dozen searches
        return ""
    matches = (match for form in forms for match in form.finditer(folded))
    return next(filter(None, map(_iso_of, matches)), "")


def _part_of_year_in(folded: str) -> str:
    if not _YEAR_DIGITS.search(folded):
        return ""
    if span := _span_in(folded):
        return span
    matches = (match for form in _MONTHS_OF_YEAR if (match := form.search(folded)))
    return next((iso[:7] for match in matches if (iso := _iso_of(match))), "")


def _span_in(folded: str) -> str:
    """Return the first and last day of the week or quarter that a folded text names."""
    for form in _SPANS:
        if match := form.search(folded):
            year, week = int(match["year"]), match.groupdict().get("week")
            with suppress(ValueError, OverflowError):
                if week:
                    start = date.fromisocalendar(year, int(week), 1)
                    end = start + timedelta(days=6)
                else:
                    month = 3 * int(match["quarter"])
                    start = date(year, month - 2, 1)
                    end = date(year, month, monthrange(year, month)[1])
                first, last = start.isoformat(), end.isoformat()
                shared = 0 if first[:4] != last[:4] else 5 if first[:7] != last[:7] else 8
                return f"{first}/{last[shared:]}"
    return ""


def _iso_of(match: re.Match[str]) -> str:
    found = match.groupdict()
    month = found.get("month") or WRITTEN_MONTHS[found["word"]]
    return _valid_iso(found["year"], month, found.get("day") or 1)


def _date_of_folders(path: str, forms: Sequence[re.Pattern[str]]) -> str:
    """Return the day with which a folder begins, or that or the month of folders and file."""
    if not _YEAR_IN_FOLDER.search(path):  # most paths, which are not folded for that
        return ""
    folders = [_folded(name) for name in reversed(path.split("/")[:-1]) if not _VERSION.match(name)]
    days = (match for folder in folders for form in forms if (match := form.match(folder)))
    if iso := next(filter(None, map(_iso_of, days)), ""):
        return iso
    for match in _DATE_FOLDERS.finditer(_folded(path)):
        year, month, word, day = match.groups()
        if iso := _valid_iso(year, month or WRITTEN_MONTHS[word], day or 1):
            return iso if day else iso[:7]
    return ""


def _day_at_top(body: str, forms: Sequence[re.Pattern[str]]) -> str:
    for match in _DATE_LINE.finditer(body, 0, end_of_top(body)):
        value = match["value"]
        is_doubtful = match["key"].lower() in _DOUBTFUL_KEYS
        if iso := only_day(value) if is_doubtful else iso_date(value) or day_in(value):
            return iso
    return day_in(heading_of(body, "heading", only_top=True), forms)


def _year_of(text: str) -> str:
    return text if re.fullmatch(r"[12]\d{3}", text) else ""


def _valid_iso(year: str, month: str | int, day: str | int) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


_TOKEN = re.compile(
    r"\[(?P<literal>[^\]]*)\]|(?P<token>YYYY|YY|MMMM|MMM|MM|Mo|M|DDDD|DDD|Do|DD|D"
    r"|dddd|ddd|dd|do|d|gggg|gg|GGGG|GG|Q|ww|w|WW|W|E|e)|(?P<other>.)",
    re.DOTALL,
)
_WORD, _NUMBER = r"[^\W\d_]++\.?+", r"\d++(?:st|nd|rd|th)?+"
_PATTERNS = {
    "YYYY": ("year", r"\d{4}"), "YY": ("short_year", r"\d{2}"),
    "MMMM": ("month_name", r"[^\W\d_]+"), "MMM": ("month_name", r"[^\W\d_]+"),
    "MM": ("month", r"\d{2}"), "Mo": ("month", r"\d{1,2}"), "M": ("month", r"\d{1,2}"),
    "DD": ("day", r"\d{2}"), "Do": ("day", r"\d{1,2}"), "D": ("day", r"\d{1,2}"),
}  # fmt: skip
_OLDEST_SHORT_YEAR = 69


def date_in_format(name: str, moment_format: str) -> str:
    """Return the ISO date in a name that matches a Moment.js format; empty if it does not.

    Empty, too, for a format without year, month or day, such as a week.
    """
    match = _pattern(moment_format).fullmatch(name)
    if match is None:
        return ""
    found = {key: value for key, value in match.groupdict().items() if value}
    month_name = fold(found.get("month_name", ""))
    month = found.get("month") or WRITTEN_MONTHS.get(month_name) or 0
    year = int(found.get("year") or 0)
    if short := found.get("short_year"):
        year = int(short) + (1900 if int(short) >= _OLDEST_SHORT_YEAR else 2000)
    try:
        return date(year, int(month), int(found.get("day") or 0)).isoformat()
    except ValueError:
        return ""


@lru_cache(maxsize=8)
def _pattern(moment_format: str) -> re.Pattern[str]:
    parts, named = [], set()
    for match in _TOKEN.finditer(moment_format[:200]):
        token = match["token"]
        if token is None:
            parts.append(re.escape(match["literal"] or match["other"] or ""))
        elif token in _PATTERNS:
            group, pattern = _PATTERNS[token]
            parts.append(f"(?P={group})" if group in named else f"(?P<{group}>{pattern})")
            parts.append("(?:st|nd|rd|th)" if token.endswith("o") else "")
            named.add(group)
        else:
            parts.append(_WORD if token in ("dddd", "ddd", "dd") else _NUMBER)
    return re.compile("".join(parts))
