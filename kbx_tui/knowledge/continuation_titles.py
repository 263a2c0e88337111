"""Titles of documents that continue another: `Offsite, part 2 of 5`, `Offsite (cont'd)`. Pure.

Long transcripts are often split this way, by hand or by the program that recorded them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from kbx_tui.knowledge.dates import first_day
from kbx_tui.knowledge.folding import fold, name_key

MAX_GAP_DAYS = 100
_LOOKBACK = 50
_MAX_TITLE = 300
_AFTER_ALL_NUMBERS = 100
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_NUMBERED = re.compile(
    r"[(\[]?\b(?:part|parte|partie|teil|deel)[\s-]+(\d{1,2}|[ivx]{1,4})\b"
    r"(?:\s*(?:/|of|von|de|van)\s*(\d{1,2})\b)?[)\]]?"
    r"|[(\[]\s*(\d{1,2})\s*(?:/|of)\s*(\d{1,2})\s*[)\]]"
)
_CONTINUED = re.compile(
    r"[(\[][^()\[\]]{0,80}?\b(?<!to be )(?:continued|continuation|cont'd)\b[^()\[\]]{0,80}[)\]]"
    r"|^\W{0,9}(?:continued|continuation)\s*(?:of\b|from\b[^:]{0,80}:|:)"
    r"|\b(?<!to be )(?:continued|continuation|cont'd)\W{0,9}$"
)


@dataclass(frozen=True, slots=True)
class ParsedTitle:
    base: str
    number: int = 0
    total: int = 0
    is_continuation: bool = False


def parse_title(title: str) -> ParsedTitle:
    """Split a title into base and part number.

    A title that is only a part number or has a date (`Report (1/2026)`) is its own base.
    """
    rest, number, total = fold(title[:_MAX_TITLE]), 0, 0
    if not _has_hint(rest):
        return ParsedTitle(name_key(rest))
    if numbered := _NUMBERED.search(rest):
        number = _part_number(numbered[1] or numbered[3])
        total = _part_number(numbered[2] or numbered[4])
        if not number or 0 < total < number:
            return ParsedTitle(name_key(rest))
        rest = f"{rest[: numbered.start()]} {rest[numbered.end() :]}"
    if continued := _CONTINUED.search(rest):
        rest = f"{rest[: continued.start()]} {rest[continued.end() :]}"
    base = name_key(rest)
    if not base:
        return ParsedTitle(name_key(title[:_MAX_TITLE]))
    return ParsedTitle(base, number, total, number > 1 or continued is not None)


def follows(after: ParsedTitle, before: ParsedTitle) -> bool:
    if before.total and after.total and before.total != after.total:
        return False
    both_numbered = before.number and after.number
    return after.is_continuation and (not both_numbered or after.number == before.number + 1)


def continuation_pairs(
    titles: Sequence[str], kinds: Sequence[str], dates: Sequence[str], paths: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the pairs of rows ``(before, after)`` where one document continues the other.

    The arguments are columns, one entry per document; dates are ISO or empty. Both documents of a
    pair have the same kind. Of several candidates for `before`, one in the same folder is
    preferred, then the latest.
    """
    bases = continued_bases(titles)
    if not bases:
        return []
    series: dict[tuple[str, str], list[_Member]] = defaultdict(list)
    for row, title in enumerate(titles):
        parsed = parse_title(title)
        if parsed.base in bases:
            folder = paths[row].rpartition("/")[0]
            series[kinds[row], parsed.base].append(_Member(row, parsed, dates[row], folder))
    return [pair for members in series.values() for pair in _pairs(sorted(members, key=_order))]


def continued_bases(titles: Iterable[str]) -> set[str]:
    parsed = (parse_title(title) for title in titles if _has_hint(title.lower()))
    return {title.base for title in parsed if title.is_continuation}


@dataclass(frozen=True, slots=True)
class _Member:
    row: int
    title: ParsedTitle
    date: str
    folder: str


def _order(member: _Member) -> tuple[str, str, int, bool, int]:
    """Return a sort key; an unnumbered original counts as part 1, a continuation as the last."""
    title = member.title
    number = title.number or (_AFTER_ALL_NUMBERS if title.is_continuation else 1)
    return member.date, member.folder, number, title.is_continuation, member.row


def _pairs(members: Sequence[_Member]) -> Iterator[tuple[int, int]]:
    continued: set[int] = set()
    for index, member in enumerate(members):
        if not member.title.is_continuation:
            continue
        candidates = [
            earlier
            for earlier in reversed(members[max(index - _LOOKBACK, 0) : index])
            if earlier.row not in continued
            and follows(member.title, earlier.title)
            and _is_near(earlier, member)
        ]
        in_folder = (earlier for earlier in candidates if earlier.folder == member.folder)
        before = next(in_folder, candidates[0] if candidates else None)
        if before is not None:
            continued.add(before.row)
            yield before.row, member.row


def _is_near(before: _Member, after: _Member) -> bool:
    try:
        days = _first_day(after) - _first_day(before)
    except ValueError:  # a date is missing
        return before.folder == after.folder
    return days.days <= MAX_GAP_DAYS


def _first_day(member: _Member) -> date:
    return date.fromisoformat(first_day(member.date))


def _part_number(text: str | None) -> int:
    if not text:
        return 0
    if text.isdecimal():
        return int(text)
    return _NUMERALS.index(text) + 1 if text in _NUMERALS else 0


def _has_hint(text: str) -> bool:
    """Return whether a title in lower case may be one of these; rejects most titles fast."""
    has_word = "part" in text or "teil" in text or "deel" in text or "cont" in text
    return has_word or "/" in text or " of " in text
