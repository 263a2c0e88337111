"""Fits and wraps text into terminal cells; wide characters take two. Pure.

Offsets are in characters, widths in cells. Lines break at spaces, after slashes and between wide
characters; a word wider than a line breaks after a hyphen or before a dot, or else is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.cells import cell_len, get_character_cell_size, set_cell_size

from kbx_tui.safe_text import safe_line

ELLIPSIS = "…"


def fit(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells: cut with an ellipsis, or padded with spaces."""
    if cell_len(text) <= width:
        return set_cell_size(text, max(width, 0))
    if width <= 0:
        return ""
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + ELLIPSIS, width)


def shorten(text: str, width: int) -> str:
    return text if cell_len(text) <= width else fit(text, width).rstrip()


def longest_fitting(wordings: Sequence[str], width: int) -> str:
    """Return the first of `wordings`, ordered longest first, that fits; else the last, if any."""
    last = wordings[-1] if wordings else ""
    return next((text for text in wordings if cell_len(text) <= width), last)


def wrap(text: str, width: int) -> list[str]:
    """Return `text` as lines of at most `width` cells, with the indent of the first line."""
    if width <= 0 or cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    indent = indent if cell_len(indent) < width // 2 else ""
    (start, end), *rest = wrap_ranges(text, width, cell_len(indent))
    return [text[start:end], *(indent + text[start:end] for start, end in rest)]


def format_place(path: str, line: int) -> str:
    """Return path and line of a fact, without the `memory` folder that holds all pages."""
    inner = path.removeprefix("memory/")
    return safe_line(f"{inner}:{line}" if line else inner)


TextRange = tuple[int, int]

_NARROW = re.compile("[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u25fc]*")
"""Matches text in which every character takes one cell, as most text does."""
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
    return text.isascii() or _NARROW.fullmatch(text) is not None


def cells_before(text: str) -> list[int] | None:
    """Return the cells before each character and in all, or None if no character is wide."""
    if is_narrow(text):
        return None
    return list(accumulate(text.translate(_CELLS).encode("latin-1"), initial=0))


def wrap_ranges(text: str, width: int, indent: int = 0) -> list[TextRange]:
    """Return ranges of `text` that fit in `width` cells, from the second on in `indent` fewer.

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
    """Return `text`, cut at its start if wider than `width` cells: the end of a path is kept."""
    before = cells_before(text) or range(len(text) + 1)
    if before[-1] <= width:
        return text
    return "…" + text[bisect_left(before, before[-1] - width + 1) :] if width > 0 else ""


def _reach(before: list[int], start: int, room: int) -> int:
    """Return the offset where text from `start` fills `room` cells, at least one character on."""
    stop = bisect_right(before, before[start] + room, start) - 1
    return max(stop, start + 1)


def _break_offset(text: str, before: list[int] | None, start: int, stop: int) -> int:
    if text[stop] == " " or (before is not None and before[stop] - before[stop - 1] == 2):
        return stop
    # Breaking within an indent would leave a blank line.
    first = stop - len(text[start:stop].lstrip(" "))
    cut = max(text.rfind(" ", first, stop), text.rfind("/", first, stop) + 1)
    if cut <= first:  # a long name breaks after a hyphen, or before its extension
        cut = max(text.rfind("-", first, stop) + 1, text.rfind(".", first, stop + 1))
    return cut if cut > first else stop
