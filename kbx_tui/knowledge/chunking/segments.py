"""Segments of a body: headings, paragraphs and speaker turns, and their parts.

A segment is a range of characters. The segments of a body are contiguous; blank lines belong to the
segment before them, and no segment is blank.
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


def split_segments(body: str) -> list[Segment]:
    """Return the segments of ``body``, none if it is blank."""
    if not body or body.isspace():
        return []
    body_headings = headings(body)
    bounds = {match.end() for match in _BLANK_LINES.finditer(body)}
    bounds.update(match.start() for match in _SPEAKER_TURN.finditer(body))
    heading_starts: list[tuple[int, Heading]] = []
    if body_headings:
        offsets = line_offsets(body)
        heading_starts = [(offsets[heading.line], heading) for heading in body_headings]
        bounds.update(start for start, _ in heading_starts)
        bounds.update(min(offsets[heading.end], len(body)) for heading in body_headings)
    return list(_under_headings(_ranges_between(body, bounds), heading_starts))


def split_segment(
    body: str, segment: Segment, boundary: re.Pattern[str] | None, parts: int
) -> Iterator[Segment]:
    """Split a segment at the ends of ``boundary``, or for None into ``parts`` of similar length."""
    if boundary is None:
        text = body[segment.start : segment.end].rstrip()
        length = len(text.lstrip())
        parts = min(parts, length)
        first = segment.start + len(text) - length
        bounds = {first + length * part // parts for part in range(1, parts)}
    else:
        bounds = {match.end() for match in boundary.finditer(body, segment.start, segment.end)}
    follows_space = segment.follows_space
    for start, end in _ranges_between(body, bounds, segment.start, segment.end):
        yield Segment(start, end, segment.path, segment.section, segment.is_heading, follows_space)
        follows_space = body[end - 1].isspace()


def _ranges_between(
    body: str, bounds: Iterable[int], start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the ranges between ``bounds``; a blank range is joined to the one before it."""
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
