"""The sections of a markdown text, with the wanted words in each and in the headings above it.

Pure. Only what a search can use is computed: a section without a wanted word, below no heading with
one, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kbx_tui.search.results.word_matches import Match

_HEADING_MARKS = re.compile(r"#{1,6}(?=[ \t])")

Stems = frozenset[str]
NO_STEMS = Stems()


class Heading(NamedTuple):
    """A heading of a text."""

    start: int
    end: int
    level: int


class Section(NamedTuple):
    """The text below one heading, or above the first."""

    heading: int
    """Where its heading begins."""
    start: int
    end: int
    own: Stems
    """Stems of the words in its heading that the title lacks, as all of the page is about these."""
    headings: Stems
    """Stems of the words in all headings above it, its own included."""
    matches: Sequence[Match]


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text, in order.

    Looks for one character, which is much faster than for two, and at the begin of lines only.
    """
    headings, find = [], text.find
    start = find("#")
    while start >= 0:
        next_from = start + 1
        is_at_start = not start or text[start - 1] == "\n"
        if is_at_start and (marks := _HEADING_MARKS.match(text, start)):
            next_from = find("\n", start)
            next_from = next_from if next_from >= 0 else len(text)
            headings.append(Heading(start, next_from, marks.end() - start))
        start = find("#", next_from)
    return headings


def sections(text: str, headings: Sequence[Heading], matches: Sequence[Match]) -> Iterator[Section]:
    """Yield the sections that hold a match or are below one in a heading, in order."""
    above: list[tuple[int, Stems]] = []  # headings above with words: level, stems of all down to it
    begin = start = first = index = 0
    size = len(matches)
    own = title = below = NO_STEMS
    has_title = bool(headings) and not text[: headings[0].start].strip()
    for number, (place, end, level) in enumerate(headings):
        while index < size and matches[index][0] < place:
            index += 1
        if below or index > first:
            yield Section(begin, start, place, own, below, matches[first:index])
        first = index
        while index < size and matches[index][0] < end:
            index += 1
        own = stems_of(matches[first:index]) if index > first else NO_STEMS
        while above and above[-1][0] >= level:
            above.pop()
        below = above[-1][1] if above else NO_STEMS
        if own:
            below |= own
        if below:
            above.append((level, below))
        if not number and has_title:
            title = own
        if own:
            own -= title
        begin, start, first = place, end, index
    if below or first < size:
        yield Section(begin, start, len(text), own, below, matches[first:])


def stems_of(matches: Sequence[Match]) -> Stems:
    """Return the stems of some matches."""
    return Stems([stem for _, _, stem in matches]) if matches else NO_STEMS
