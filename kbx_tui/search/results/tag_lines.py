"""Lines of a markdown text that hold only tags, or only a property `key:: value`. Pure.

They name what a note is filed under, and say little of what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from kbx_tui.search.results.word_matches import Match

_MARK = r"[ \t]*(?:[-*+>][ \t]+)?"
_TAGS = re.compile(
    rf"{_MARK}(?:\*{{0,2}}tags?\*{{0,2}}[ \t]*:{{1,2}}\*{{0,2}}[ \t]*)?"
    r"(?:\#[^\s\#,;]+[ \t,;]*)+$",
    re.IGNORECASE,
)
_PROPERTY = re.compile(rf"{_MARK}\*{{0,2}}\w[\w \-]{{0,40}}\*{{0,2}}::(?:[ \t]|$)")
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)

Span = tuple[int, int]


def kind_of_line(text: str, offset: int) -> Literal["", "tags", "property"]:
    """Return what the line around an offset holds alone; empty for text."""
    start, end = _line_around(text, offset)
    if _TAGS.match(text, start, end):
        return "tags"
    return "property" if _PROPERTY.match(text, start, end) else ""


def outside(text: str, matches: Sequence[Match]) -> list[Match]:
    """Return the matches that are in no such line."""
    spans = list(_tag_and_property_lines(text))
    return [match for match in matches if not any(start <= match[0] < end for start, end in spans)]


def text_near(text: str, offset: int) -> int:
    """Return the offset if there is text, else where the next line of text begins, or the first.

    Headings and such lines do not count; the offset itself if there is nothing else.
    """
    if not kind_of_line(text, offset):
        return offset
    for first in (offset, 0):
        for line in _LINE.finditer(text, first):
            is_heading = line[0].lstrip().startswith(("# ", "##"))
            if not is_heading and not kind_of_line(text, line.start()):
                return line.start()
    return offset


def _tag_and_property_lines(text: str) -> Iterator[Span]:
    for mark in ("#", "::"):
        place = text.find(mark)
        while place >= 0:
            start, end = _line_around(text, place)
            if kind_of_line(text, start):
                yield start, end
            place = text.find(mark, end)


def _line_around(text: str, offset: int) -> Span:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, end if end >= 0 else len(text)
