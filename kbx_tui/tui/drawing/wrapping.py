"""Wraps long lines: offsets are in characters, widths in cells. Pure.

Lines break at spaces, after slashes and between wide characters; a word wider than a line is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

from rich.cells import get_character_cell_size

TextRange = tuple[int, int]
"""Start and end offset of a wrapped line; the spaces at a break belong to no range."""

_NARROW = re.compile("[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u25fc]*")
"""Text in which every character takes one cell, as in most text."""
_NOT_SPACE = re.compile("[^ ]")


class _Cells(dict[int, str]):
    """Maps each character, for `str.translate`, to the character whose code is its width.

    Joined emoji count separately and a presentation selector takes a cell of its own: the most
    any terminal uses, so that no line comes out too wide.
    """

    def __missing__(self, codepoint: int) -> str:
        cells = chr(get_character_cell_size(chr(codepoint)))
        self[codepoint] = cells
        return cells


_CELLS = _Cells({0xFE0F: "\x01"})


def is_narrow(text: str) -> bool:
    """Return whether every character takes exactly one cell."""
    return text.isascii() or _NARROW.fullmatch(text) is not None


def cells_before(text: str) -> list[int] | None:
    """Return the cells before each character and in the whole text, or None if it is narrow."""
    if is_narrow(text):
        return None
    return list(accumulate(text.translate(_CELLS).encode("latin-1"), initial=0))


def wrap_ranges(text: str, width: int, indent: int = 0) -> list[TextRange]:
    """Return the ranges of `text` that fit in `width` cells, `indent` fewer from the second on.

    There is at least one range, and together they hold everything except spaces at the breaks.
    Wide characters need a width of 2.
    """
    before = cells_before(text)
    end = len(text)
    if (end if before is None else before[-1]) <= width:
        return [(0, end)]
    ranges: list[TextRange] = []
    start, room = 0, width
    while True:
        stop = start + room if before is None else _reach(before, start, room)
        if stop >= end:
            ranges.append((start, end))
            return ranges
        cut = _break_offset(text, before, start, stop)
        ranges.append((start, start + len(text[start:cut].rstrip(" "))))
        following = _NOT_SPACE.search(text, cut)
        if following is None:
            return ranges
        start, room = following.start(), width - indent


def shorten_start(text: str, width: int) -> str:
    """Return `text`, cut at its start if wider than `width` cells: it keeps the end of a path."""
    before = cells_before(text) or range(len(text) + 1)
    if before[-1] <= width:
        return text
    return "…" + text[bisect_left(before, before[-1] - width + 1) :] if width > 0 else ""


def _reach(before: list[int], start: int, room: int) -> int:
    """Return the offset up to which `room` cells reach: always at least one character."""
    stop = bisect_right(before, before[start] + room, start) - 1
    return max(stop, start + 1)


def _break_offset(text: str, before: list[int] | None, start: int, stop: int) -> int:
    """Return the best offset at which to end a line that may reach from `start` to `stop`."""
    if text[stop] == " " or (before is not None and before[stop] - before[stop - 1] == 2):
        return stop
    # Breaking within an indent would leave a blank line.
    first = stop - len(text[start:stop].lstrip(" "))
    cut = max(text.rfind(" ", first, stop), text.rfind("/", first, stop) + 1)
    return cut if cut > first else stop
