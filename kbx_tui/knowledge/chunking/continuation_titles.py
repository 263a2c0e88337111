"""Titles of documents that are parts of a longer one: `Offsite, part 2 of 5`, `Offsite (cont'd)`.

Long transcripts are cut so, by hand or by the program that wrote them. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from kbx_tui.knowledge.folding import fold, name_key

LONGEST_GAP = 100
"""Days after which what bears the same title is another matter: a quarter and a little."""

LOOKED_BACK = 50
"""How many documents of one whole are looked at for the part before another."""

_LONGEST = 300
"""Characters of a title that are looked at: no title is as long, and nobody waits for one."""

_AFTER_ALL = 100
"""Numbers of parts have two digits."""

_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_HINTS = ("part", "teil", "deel", "cont", "/", " of ")
"""What a title must hold to be looked at closer; few hold any."""

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
class Part:
    """What a title says of the document being a part."""

    whole: str
    """The title without it, as a key: parts of one document share it."""
    number: int = 0
    """Which part it is, 0 where there is no number."""
    total: int = 0
    """How many there are, 0 where that is not said."""
    continues: bool = False
    """True when another part comes before it."""


def part_of(title: str) -> Part:
    """Return what a title says: of one that says nothing, itself as the whole.

    Where nothing else is left, as of a plain `Part 2`, nothing is said either. Nor is it by a date:
    `Report (1/2026)`, `Sync (10/3)`.
    """
    rest, number, total = fold(title[:_LONGEST]), 0, 0
    if not _hints(rest):
        return Part(name_key(rest))
    if numbered := _NUMBERED.search(rest):
        number, total = _number(numbered[1] or numbered[3]), _number(numbered[2] or numbered[4])
        if not number or 0 < total < number:
            return Part(name_key(rest))
        rest = f"{rest[: numbered.start()]} {rest[numbered.end() :]}"
    if continued := _CONTINUED.search(rest):
        rest = f"{rest[: continued.start()]} {rest[continued.end() :]}"
    whole = name_key(rest)
    if not whole:
        return Part(name_key(title[:_LONGEST]))
    return Part(whole, number, total, number > 1 or continued is not None)


def follows(after: Part, before: Part) -> bool:
    """Return whether `after` may be the part that comes next after `before`, of the same whole."""
    if before.total and after.total and before.total != after.total:
        return False
    numbered = before.number and after.number
    return after.continues and (not numbered or after.number == before.number + 1)


def pairs_of_parts(
    titles: Sequence[str], kinds: Sequence[str], dates: Sequence[str], paths: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the rows of documents that follow each other, given their columns.

    Parts of one document are of one kind. Of several that may come before another, it is one in the
    same folder, and of these the latest.
    """
    wholes = wholes_of(titles)
    if not wholes:
        return []
    found: dict[tuple[str, str], list[_Place]] = defaultdict(list)
    for row, title in enumerate(titles):
        part = part_of(title)
        if part.whole in wholes:
            folder = paths[row].rpartition("/")[0]
            found[kinds[row], part.whole].append(_Place(row, part, dates[row], folder))
    return [pair for places in found.values() for pair in _pairs(sorted(places, key=_order))]


def wholes_of(titles: Iterable[str]) -> set[str]:
    """Return the wholes of which a title continues another."""
    hinting = (title for title in titles if _hints(title.lower()))
    return {part.whole for part in map(part_of, hinting) if part.continues}


@dataclass(frozen=True, slots=True)
class _Place:
    row: int
    part: Part
    date: str
    folder: str


def _order(place: _Place) -> tuple[str, str, int, bool, int]:
    """Without a number, what others continue stands for part 1, and what continues comes last."""
    part = place.part
    number = part.number or (_AFTER_ALL if part.continues else 1)
    return place.date, place.folder, number, part.continues, place.row


def _pairs(places: Sequence[_Place]) -> Iterable[tuple[int, int]]:
    """Yield pairs of rows; no part has two after it."""
    taken: set[int] = set()
    for at, place in enumerate(places):
        if not place.part.continues:
            continue
        near = [
            one
            for one in reversed(places[max(at - LOOKED_BACK, 0) : at])
            if one.row not in taken and follows(place.part, one.part) and _is_near(one, place)
        ]
        before = next((one for one in near if one.folder == place.folder), next(iter(near), None))
        if before is not None:
            taken.add(before.row)
            yield before.row, place.row


def _is_near(before: _Place, after: _Place) -> bool:
    try:
        days = date.fromisoformat(after.date) - date.fromisoformat(before.date)
    except ValueError:  # one has no date
        return before.folder == after.folder
    return days.days <= LONGEST_GAP


def _number(said: str | None) -> int:
    if not said:
        return 0
    if said.isdecimal():
        return int(said)
    return _NUMERALS.index(said) + 1 if said in _NUMERALS else 0


def _hints(folded: str) -> bool:
    return any(hint in folded for hint in _HINTS)
