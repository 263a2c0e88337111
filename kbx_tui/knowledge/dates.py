"""Dates of documents, from frontmatter, file name or folders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.obsidian_vault import DailyNotes

_ISO = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_ISO_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DATE_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{2})/(\d{2})/")
_DATE_NAME = re.compile(
    r"\d{4}([_.-]?)\d\d\1\d\d|[\w.]{1,9},? [\w.]{1,9},? \d{4}|\d\d?\.\d\d?\.\d{4}"
)
"""File names that are a date as a whole: ``2026_03_17``, ``17 March 2026``, ``17.3.2026``."""
_DATE_FORMATS = (
    "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d.%m.%Y",
)  # fmt: skip


def date_of(
    frontmatter: Mapping[str, Any], path: str, daily_notes: DailyNotes | None = None
) -> str:
    """Return the ISO date of a document, empty if it has none.

    Sources are its frontmatter, then its name as a daily note, then a date in its file name or a
    file name that is a date in any form, then its folders (``2026/03/17/``).
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

    A date that starts with the year may be followed by other text. A numeric day and month are read
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
