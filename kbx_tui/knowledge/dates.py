"""Dates of documents, from frontmatter, file name or folders, and names of months and weekdays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from kbx_tui.knowledge.fields import text_of

_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"

MONTH_NAMES = tuple(_MONTHS.split())
MONTH_NUMBERS = MappingProxyType(
    {name: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {"sept": 9}
)
WEEKDAY_NUMBERS = MappingProxyType({name: n for n, name in enumerate(_WEEKDAYS.split(), 1)})

_ISO = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_ISO_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DATE_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{2})/(\d{2})/")
_DATE_NAME = re.compile(
    r"\d{4}([_.-]?)\d\d\1\d\d|[\w.]{1,9},? [\w.]{1,9},? \d{4}|\d\d?\.\d\d?\.\d{4}"
)
"""Matches file names that consist of a date: ``2026_03_17``, ``17 March 2026``, ``17.3.2026``."""
_DATE_FORMATS = (
    "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d.%m.%Y",
)  # fmt: skip


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
    frontmatter: Mapping[str, Any], path: str, daily_notes: DailyNotes | None = None
) -> str:
    """Return the ISO date of a document, empty if it has none.

    Tried in order are its frontmatter, its name as that of a daily note, a date in its file name or
    a file name that is a date in any form, and its folders (``2026/03/17/``).
    """
    written = text_of(frontmatter.get("date"))
    if iso := written and iso_date(written):
        return iso
    if iso := daily_notes.date_of(path) if daily_notes else "":
        return iso
    in_name = _ISO_IN_NAME.finditer(path.rpartition("/")[2])
    for match in in_name:
        if iso := _valid_iso(*match.groups()):
            return iso
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if iso := iso_date(stem.replace("_", "-")) if _DATE_NAME.fullmatch(stem) else "":
        return iso
    for match in _DATE_FOLDERS.finditer(path):
        if iso := _valid_iso(*match.groups()):
            return iso
    return ""


def iso_date(text: str) -> str:
    """Return the date in a text as ``YYYY-MM-DD``, empty if there is no valid one.

    A date that starts with the year may be followed by other text. Numeric days and months are read
    only where their order is certain: after the year, or separated by dots.
    """
    if match := _ISO.match(text):
        return _valid_iso(match[1], match[3], match[4])
    for date_format in _DATE_FORMATS:
        try:
            return datetime.strptime(text, date_format).date().isoformat()
        except ValueError:
            continue
    return ""


def _valid_iso(year: str, month: str, day: str) -> str:
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

    Month names are English. Empty, too, for a format without year, month or day, such as a week.
    """
    match = _pattern(moment_format).fullmatch(name)
    if match is None:
        return ""
    found = {key: value for key, value in match.groupdict().items() if value}
    month_name = found.get("month_name", "").casefold()
    month = found.get("month") or MONTH_NUMBERS.get(month_name) or 0
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
