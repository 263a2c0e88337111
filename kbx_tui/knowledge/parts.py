"""Titles of documents that are parts of a longer one: `Offsite, part 2 of 5`, `Offsite (cont'd)`.

Long transcripts are cut so, by hand or by the program that wrote them. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kbx_tui.knowledge.names import fold, name_key

_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")

_HINTS = ("part", "teil", "deel", "continu", "cont'd", "/", " of ")
"""What a title must hold to be looked at closer; few hold any."""

_NUMBERED = re.compile(
    r"[(\[]?\b(?:part|parte|partie|teil|deel)[\s-]+(\d{1,4}|[ivx]{1,4})\b"
    r"(?:\s*(?:/|of|von|de|van)\s*\d{1,4}\b)?[)\]]?"
    r"|[(\[]\s*(\d{1,4})\s*(?:/|of)\s*\d{1,4}\s*[)\]]"
)
_CONTINUED = re.compile(
    r"[(\[][^()\[\]]*\b(?:continued|continuation|cont'd)\b[^()\[\]]*[)\]]"
    r"|^\W*(?:continued|continuation)\b(?:\s+of\b|[^:]*:)"
    r"|\W*\b(?:continued|continuation|cont'd)\W*$"
)


@dataclass(frozen=True, slots=True)
class Part:
    """What a title says of the document being a part."""

    whole: str
    """The title without it, as a key: parts of one document share it."""
    number: int
    """Which part it is, 0 where there is no number."""
    continues: bool
    """True when another part comes before it."""


def part_of(title: str) -> Part:
    """Return what a title says: of one that says nothing, itself as the whole.

    Where nothing else is left, as of a plain `Part 2`, nothing is said either.
    """
    rest, number = fold(title), 0
    if not _hints(rest):
        return Part(name_key(rest), 0, continues=False)
    if numbered := _NUMBERED.search(rest):
        said = numbered[1] or numbered[2]
        number = int(said) if said.isdecimal() else _roman(said)
        if number:
            rest = f"{rest[: numbered.start()]} {rest[numbered.end() :]}"
    continued = _CONTINUED.search(rest)
    if continued:
        rest = f"{rest[: continued.start()]} {rest[continued.end() :]}"
    whole = name_key(rest)
    if not whole:
        return Part(name_key(title), 0, continues=False)
    return Part(whole, number, continues=number > 1 or continued is not None)


def follow(before: Part, after: Part) -> bool:
    """Return whether `after` is the part that comes next after `before`, of the same whole."""
    numbered = before.number and after.number
    return after.continues and (not numbered or after.number == before.number + 1)


def pairs_of_parts(
    titles: Sequence[str], kinds: Sequence[str], dates: Sequence[str], paths: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the rows of documents that follow each other, given their columns.

    Parts of one document are of one kind; they are put in order by date, folder and number.
    """
    wholes = wholes_of(titles)
    if not wholes:
        return []
    found: dict[tuple[str, str], list[tuple[str, str, int, int]]] = defaultdict(list)
    parts: dict[int, Part] = {}
    for row, title in enumerate(titles):
        part = part_of(title)
        if part.whole in wholes:
            parts[row] = part
            place = (dates[row], paths[row].rpartition("/")[0], part.number, row)
            found[kinds[row], part.whole].append(place)
    return [
        (before[-1], after[-1])
        for places in found.values()
        for before, after in pairwise(sorted(places))
        if follow(parts[before[-1]], parts[after[-1]])
    ]


def wholes_of(titles: Iterable[str]) -> set[str]:
    """Return the wholes of which a title continues another."""
    hinting = (title for title in titles if _hints(fold(title)))
    return {part.whole for part in map(part_of, hinting) if part.continues}


def _roman(numeral: str) -> int:
    return _NUMERALS.index(numeral) + 1 if numeral in _NUMERALS else 0


def _hints(folded: str) -> bool:
    return any(hint in folded for hint in _HINTS)
