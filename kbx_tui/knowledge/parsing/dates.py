"""The date of a document, wherever it is written. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from kbx_tui.knowledge.parsing.fields import text_of

_ISO = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_ISO_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DATE_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{2})/(\d{2})/")
_WRITTEN_DATES = (
    "%d %B %Y",
    "%d %b %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%b %d %Y",
    "%d.%m.%Y",
)


def date_of(frontmatter: Mapping[str, Any], path: str) -> str:
    """Return the ISO date of a document: its frontmatter's, else its name's, else its folders'."""
    written = text_of(frontmatter.get("date"))
    if written and (iso := iso_date(written)):
        return iso
    for match in _ISO_IN_NAME.finditer(path.rpartition("/")[2]):
        if iso := _checked(*match.groups()):
            return iso
    for match in _DATE_FOLDERS.finditer(path):
        if iso := _checked(*match.groups()):
            return iso
    return ""


def iso_date(text: str) -> str:
    """Return the date a text begins with as ``YYYY-MM-DD``, empty when it is none or impossible.

    Day and month in figures are read only where their order is certain: year first, or dots.
    """
    if match := _ISO.match(text):
        return _checked(match[1], match[3], match[4])
    for form in _WRITTEN_DATES:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return ""


def _checked(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
