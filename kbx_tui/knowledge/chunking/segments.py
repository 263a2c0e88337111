"""Where a body may be cut: headings, paragraphs, turns of speech; then sentences, words, letters.

Pure. A piece is a range of characters. The pieces of a body follow each other without a gap, blank
lines belong to the piece before them, and no piece is blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kbx_tui.knowledge.parsing.headings import Heading
from kbx_tui.knowledge.parsing.markdown import headings, line_offsets

SECTION_LEVEL = 3
"""Headings down to this level open a section."""

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_TURN = re.compile(r"^\*\*[^*\n]{1,80}(?::\*\*|\*\*:)", re.MULTILINE)
_SENTENCE_END = re.compile(  # begins with a class of characters: the scanner skips to them
    r"[\n.!?…。！？](?:(?<=\n)\n*|(?<=[。！？])|(?<=[.!?…])(?<!\d\.)[\"'”’)\]]{0,3}[^\S\n]+)"
)
_WORD_END = re.compile(r"\s+")


@dataclass(slots=True)
class Piece:
    """A heading, a paragraph, a turn of speech, or a part of one."""

    start: int
    end: int
    path: tuple[str, ...]
    """Headings it stands under; a heading stands under itself."""
    section: int
    """Ordinal of its section: the text between two headings of level 1-3."""
    is_heading: bool
    firm: bool = True
    """False when no white space is before it: its count and its neighbour's may not add up."""
    tokens: int = -1
    """-1 as long as nobody counted."""


def pieces_of(body: str) -> list[Piece]:
    """Return the pieces of ``body``, none when it is blank."""
    if not body or body.isspace():
        return []
    found = headings(body)
    bounds = {match.end() for match in _BLANK_LINES.finditer(body)}
    bounds.update(match.start() for match in _TURN.finditer(body))
    starts: list[tuple[int, Heading]] = []
    if found:
        offsets = line_offsets(body)
        starts = [(offsets[heading.line], heading) for heading in found]
        bounds.update(start for start, _ in starts)
        bounds.update(min(offsets[heading.end], len(body)) for heading in found)
    return list(_under_headings(_filled(body, bounds), starts))


def sentences(body: str, piece: Piece, parts: int = 0) -> Iterator[Piece]:
    """Cut a piece at line ends and after sentences, however many ``parts`` that makes."""
    return _cut(body, piece, _SENTENCE_END)


def words(body: str, piece: Piece, parts: int = 0) -> Iterator[Piece]:
    """Cut a piece at white space, however many ``parts`` that makes."""
    return _cut(body, piece, _WORD_END)


def slices(body: str, piece: Piece, parts: int) -> Iterator[Piece]:
    """Cut a word into ``parts`` of about the same length, whatever it consists of."""
    inked = len(body[piece.start : piece.end].rstrip())
    blank = inked - len(body[piece.start : piece.start + inked].lstrip())
    length = inked - blank
    parts = min(parts, length)
    first = piece.start + blank
    bounds = {first + length * part // parts for part in range(1, parts)}
    firm = piece.firm
    for start, end in _filled(body, bounds, piece.start, piece.end):
        yield Piece(start, end, piece.path, piece.section, piece.is_heading, firm)
        firm = False


def _cut(body: str, piece: Piece, boundary: re.Pattern[str]) -> Iterator[Piece]:
    ends = {match.end() for match in boundary.finditer(body, piece.start, piece.end)}
    firm = piece.firm
    for start, end in _filled(body, ends, piece.start, piece.end):
        yield Piece(start, end, piece.path, piece.section, piece.is_heading, firm)
        firm = body[end - 1].isspace()


def _filled(
    body: str, bounds: Iterable[int], start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the ranges between ``bounds``; a blank one becomes the tail of the one before it."""
    end = len(body) if end is None else end
    pending = None
    for bound in [*sorted(bounds), end]:
        if bound <= start or bound > end:
            continue
        if not body[start:bound].isspace():
            if pending is not None:
                yield pending
            pending = (start, bound)
        elif pending is not None:
            pending = (pending[0], bound)
        else:
            continue
        start = bound
    if pending is not None:
        yield pending


def _under_headings(
    ranges: Iterable[tuple[int, int]], starts: list[tuple[int, Heading]]
) -> Iterator[Piece]:
    above: list[Heading] = []
    path: tuple[str, ...] = ()
    section = following = 0
    for start, end in ranges:
        is_heading = following < len(starts) and starts[following][0] < end
        if is_heading:
            heading = starts[following][1]
            following += 1
            while above and above[-1].level >= heading.level:
                above.pop()
            above.append(heading)
            path = tuple(entry.text for entry in above if entry.text)
            section += heading.level <= SECTION_LEVEL
        yield Piece(start, end, path, section, is_heading)
