"""Where long lines break: pieces are stretches of a line in characters, their width is in cells.

Pure. Breaks at spaces, after slashes, between wide characters; a word wider than a line is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

from rich.cells import get_character_cell_size

Piece = tuple[int, int]
"""First character, and the one after the last; the spaces at a break are in no piece."""

_NARROW = re.compile("[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u25fc]*")
"""Text in which every character takes one cell; most is."""
_NOT_SPACE = re.compile("[^ ]")


class _Cells(dict[int, str]):
    """For `str.translate`: each character becomes the one whose number is its width.

    Joined emoji count as if they stood apart, a presentation selector as a cell of its own: that
    is the most any terminal takes, so no line comes out too wide.
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
    """Return how many cells stand before each character and after the last; None if narrow."""
    if is_narrow(text):
        return None
    return list(accumulate(text.translate(_CELLS).encode("latin-1"), initial=0))


def pieces(text: str, width: int, indent: int = 0) -> list[Piece]:
    """Return the pieces of `text`, the first of at most `width` cells, the others of less.

    `indent` is what the others leave free. There is always a piece, and never an end to `text`
    that is not shown but for spaces. Wide characters need a width of 2.
    """
    before = cells_before(text)
    end = len(text)
    if (end if before is None else before[-1]) <= width:
        return [(0, end)]
    found: list[Piece] = []
    start, room = 0, width
    while True:
        stop = start + room if before is None else _reach(before, start, room)
        if stop >= end:
            found.append((start, end))
            return found
        cut = _break(text, before, start, stop)
        last = cut
        while last > start and text[last - 1] == " ":
            last -= 1
        found.append((start, last))
        following = _NOT_SPACE.search(text, cut)
        if following is None:
            return found
        start, room = following.start(), width - indent


def shorten_start(text: str, width: int) -> str:
    """Return `text`, cut at its start when it takes more than `width` cells: the end of a path."""
    before = cells_before(text) or range(len(text) + 1)
    if before[-1] <= width:
        return text
    return "…" + text[bisect_left(before, before[-1] - width + 1) :] if width > 0 else ""


def _reach(before: list[int], start: int, room: int) -> int:
    stop = bisect_right(before, before[start] + room, start) - 1
    return max(stop, start + 1)


def _break(text: str, before: list[int] | None, start: int, stop: int) -> int:
    """Return where the piece from `start`, which could go on to `stop`, had better end."""
    if text[stop] == " " or (before is not None and before[stop] - before[stop - 1] == 2):
        return stop
    first = start
    while first < stop and text[first] == " ":  # a break within an indent would leave a blank line
        first += 1
    cut = max(text.rfind(" ", first, stop), text.rfind("/", first, stop) + 1)
    return cut if cut > first else stop
