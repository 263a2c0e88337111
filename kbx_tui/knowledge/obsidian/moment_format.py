"""Dates in names by the date format of Moment.js, which Obsidian uses: `YYYY/MM/DD-MM-YYYY`."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from kbx_tui.knowledge.calendar_names import MONTH_NUMBERS

_TOKEN = re.compile(
    r"\[(?P<literal>[^\]]*)\]|(?P<token>YYYY|YY|MMMM|MMM|MM|Mo|M|DDDD|DDD|Do|DD|D"
    r"|dddd|ddd|dd|do|d|gggg|gg|GGGG|GG|Q|ww|w|WW|W|E|e)|(?P<other>.)",
    re.DOTALL,
)
_WORD, _NUMBER = r"[^\W\d_]++\.?+", r"\d++(?:st|nd|rd|th)?+"
"""Possessive: a format is anyone's, and with many such tokens a search would take for ever."""
_PATTERNS = {
    "YYYY": ("year", r"\d{4}"), "YY": ("short_year", r"\d{2}"),
    "MMMM": ("month_name", r"[^\W\d_]+"), "MMM": ("month_name", r"[^\W\d_]+"),
    "MM": ("month", r"\d{2}"), "Mo": ("month", r"\d{1,2}"), "M": ("month", r"\d{1,2}"),
    "DD": ("day", r"\d{2}"), "Do": ("day", r"\d{1,2}"), "D": ("day", r"\d{1,2}"),
}  # fmt: skip
_OLDEST_SHORT_YEAR = 69
"""Two digits from this on are years before 2000, as Moment reads them."""


def date_in_format(name: str, moment_format: str) -> str:
    """Return the ISO date that a whole name is in a format; empty if it is none.

    Month names are English. A format without year, month or day, as that of a week, gives none.
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
