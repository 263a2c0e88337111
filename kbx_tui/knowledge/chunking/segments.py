"""Segments of a body: headings, paragraphs and speaker turns, and their parts.

A segment is a range of characters. The segments of a body are contiguous; blank lines belong to the
segment before them, and no segment is blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import chain

from kbx_tui.knowledge.parsing.headings import Heading
from kbx_tui.knowledge.parsing.markdown import headings, line_offsets, read_as_markdown

SECTION_LEVEL = 3
"""Headings down to this level open a section."""

LARGE = 2_000_000
"""Characters from which short segments of a body are joined: each takes some 200 bytes."""

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SPEAKER_TURN = re.compile(r"^\*\*[^*\n]{1,80}(?::\*\*|\*\*:)", re.MULTILINE)
SENTENCE_END = re.compile(  # a leading character class lets the regex engine skip to candidates
    r"[\n.!?…。！？](?:(?<=\n)\n*|(?<=[。！？])|(?<=[.!?…])(?<!\d\.)[\"'”’)\]]{0,3}[^\S\n]+)"
)
WORD_END = re.compile(r"\s+")


@dataclass(slots=True)
class Segment:
    """A heading, a paragraph, a speaker turn, or a part of one of these."""

    start: int
    end: int
    path: tuple[str, ...]
    """Texts of the headings above it, outermost first; a heading includes itself."""
    section: int
    """Ordinal of its section: the text between two headings of level 1-3."""
    is_heading: bool
    follows_space: bool = True
    """False if no white space precedes it: token counts may not add up with the one before."""
    tokens: int = -1
    """Number of tokens, -1 until counted."""


def split_segments(body: str, shortest: int = 0) -> list[Segment]:
    """Return the segments of ``body``, none if it is blank.

    In the lines of a large body that are not read as markdown, paragraphs and turns with less than
    ``shortest`` characters are joined to the next ones.
    """
    if not body or body.isspace():
        return []
    read = read_as_markdown(body)
    body_headings = headings(body)
    heading_starts: list[tuple[int, Heading]] = []
    heading_bounds = set[int]()
    if body_headings:
        offsets = line_offsets(read)
        heading_starts = [(offsets[heading.line], heading) for heading in body_headings]
        heading_bounds.update(start for start, _ in heading_starts)
        heading_bounds.update(min(offsets[heading.end], len(body)) for heading in body_headings)
    bounds = merge(
        (match.end() for match in _BLANK_LINES.finditer(body)),
        (match.start() for match in _SPEAKER_TURN.finditer(body)),
        sorted(heading_bounds),
    )
    joined_from = len(read) if len(body) >= LARGE else len(body)
    ranges = _ranges_between(body, bounds, 0, len(body), joined_from, shortest)
    return list(_under_headings(ranges, heading_starts))


def split_segment(
    body: str, segment: Segment, boundary: re.Pattern[str] | None, parts: int, shortest: int = 0
) -> Iterator[Segment]:
    """Split a segment at the ends of ``boundary``, or for None into ``parts`` of similar length.

    In a large body, parts with less than ``shortest`` characters are joined to the next ones.
    """
    bounds: Iterable[int]
    if boundary is None:
        text = body[segment.start : segment.end].rstrip()
        length = len(text.lstrip())
        parts = min(parts, length)
        first = segment.start + len(text) - length
        bounds = (first + length * part // parts for part in range(1, parts))
    else:
        bounds = (match.end() for match in boundary.finditer(body, segment.start, segment.end))
    joined_from = segment.start if boundary and len(body) >= LARGE else segment.end
    follows_space = segment.follows_space
    for start, end in _ranges_between(
        body, bounds, segment.start, segment.end, joined_from, shortest
    ):
        yield Segment(start, end, segment.path, segment.section, segment.is_heading, follows_space)
        follows_space = body[end - 1].isspace()


def _ranges_between(
    body: str, bounds: Iterable[int], start: int, end: int, joined_from: int, shortest: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges between the ascending ``bounds``.

    A blank range is joined to the one before it, and from offset ``joined_from`` on one with less
    than ``shortest`` characters to the next.
    """
    pending = None
    for bound in chain(bounds, (end,)):
        if bound <= start or bound > end:
            continue
        is_blank = body[start:bound].isspace()
        if pending is not None:
            is_short = pending[0] >= joined_from and start - pending[0] < shortest
            if is_blank or is_short:
                pending = (pending[0], bound)
            else:
                yield pending
                pending = (start, bound)
        elif is_blank:
            continue
        else:
            pending = (start, bound)
        start = bound
    if pending is not None:
        yield pending


def _under_headings(
    ranges: Iterable[tuple[int, int]], heading_starts: list[tuple[int, Heading]]
) -> Iterator[Segment]:
    ancestors: list[Heading] = []
    path: tuple[str, ...] = ()
    section = next_heading = 0
    for start, end in ranges:
        is_heading = next_heading < len(heading_starts) and heading_starts[next_heading][0] < end
        if is_heading:
            heading = heading_starts[next_heading][1]
            next_heading += 1
            while ancestors and ancestors[-1].level >= heading.level:
                ancestors.pop()
            ancestors.append(heading)
            path = tuple(ancestor.text for ancestor in ancestors if ancestor.text)
            section += heading.level <= SECTION_LEVEL
        yield Segment(start, end, path, section, is_heading)
