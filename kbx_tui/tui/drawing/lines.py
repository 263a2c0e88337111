"""Lines of styled text that fit into terminal cells, and the mixin that draws them.

A widget draws `Line`s; `styles/` defines how a look appears, in the class `look--<look>`. Offsets
are in characters, widths in cells: wide characters take two. Lines break at spaces, after slashes
and between wide characters; a word wider than a line breaks after a hyphen or before a dot, or else
is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any, Literal, NamedTuple, TypeVar

from rich.cells import cell_len, get_character_cell_size, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

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

_NARROW = re.compile(r"[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u25fc]*")
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


DocumentLook = Literal["heading", "emphasis", "struck", "code", "link", "match", "here"]
"""The styles within a document; `here` is the current match or link."""
ScoreLook = Literal["document", "entity", "reranker", "grade", "label", "track", "knob"]
RoleLook = Literal["text", "dim", "strong", "accent", "rule", "bad", "tab", "cursor"]
"""Styles of text by its role: `strong` for titles and matches, `accent` for keys and moves.

`tab` is the current mode, `cursor` the background of the row under the cursor.
"""
Look = Literal[RoleLook, DocumentLook, ScoreLook]

FAINT: tuple[Look, ...] = ("dim", "rule")


def looks(*names: Look) -> set[str]:
    """Return the component classes for these looks (styles), and for `text` and `dim`.

    A widget names only the looks it needs: restyling it restyles each of its classes.
    """
    return {f"look--{name}" for name in ("text", "dim", *names)}


class Span(NamedTuple):
    text: str
    look: Look = "text"


Line = tuple[Span, ...]
PartT = TypeVar("PartT")
BLANK: Line = ()


def width_of(line: Line) -> int:
    return sum(cell_len(span.text) for span in line)


def part_at(parts: Iterable[tuple[PartT, Line]], x: int) -> PartT | None:
    """Return what is drawn at cell `x` of parts that adjoin, each given with its line."""
    for part, line in parts:
        x -= width_of(line)
        if x < 0:
            return part
    return None


def fit_line(line: Line, width: int) -> Line:
    """Return `line` cut to `width` cells; a shorter line is returned unchanged."""
    room, spans = width, []
    for span in line:
        size = cell_len(span.text)
        if size > room:
            spans.append(Span(fit(span.text, room), span.look))
            break
        spans.append(span)
        room -= size
    return tuple(spans)


def slice_line(line: Line, start: int, end: int | None = None) -> Line:
    offset, spans = 0, []
    for text, look in line:
        stop = len(text) if end is None else max(end - offset, 0)
        spans.append(Span(text[max(start - offset, 0) : stop], look))
        offset += len(text)
    return tuple(span for span in spans if span.text)


def wrap_line(line: Line, width: int) -> list[Line]:
    text = "".join(span.text for span in line)
    return [slice_line(line, start, end) for start, end in wrap_ranges(text, width)]


def highlight(text: str, matches: Sequence[tuple[int, int]], look: Look = "dim") -> Line:
    line, offset = [], 0
    for start, end in matches:
        line += [Span(text[offset:start], look), Span(text[start:end], "strong")]
        offset = end
    return tuple(span for span in (*line, Span(text[offset:], look)) if span.text)


def paragraph(text: str, width: int, look: Look = "text") -> list[Line]:
    return [(Span(f"  {line}", look),) for line in wrap(text, max(width - 3, 1))]


def key_lines(words: Iterable[tuple[str, str]], width: int) -> list[Line]:
    """Return lines on what keys do, each given with its keys: ("esc f", "loads a file")."""
    return [
        (Span("  "), *line)
        for keys, does in words
        for line in wrap_line(
            (Span(keys, "accent"), Span(f" {does}" if keys else does, "dim")),
            max(width - 3, 1),
        )
    ]


def fit_to_height(lines: list[Line], height: int) -> list[Line]:
    """Return `lines` below a blank line, or without any blank lines if that exceeds `height`."""
    spaced = [BLANK, *lines]
    return spaced if len(spaced) <= height else [line for line in lines if line]


def diff_look(line: str) -> Look:
    """Return the style of a line of a unified diff, or of a reason (`✗ ...`) why there is none."""
    if line.startswith(("+++", "---", "@@")):
        return "rule"
    return "entity" if line.startswith("+") else "bad" if line.startswith(("-", "✗")) else "dim"


class LineDrawing:
    def draw(self: Any, line: Line, width: int, *, cursor: bool = False) -> Strip:
        background = Style.null()
        if cursor:  # background only: the looks keep their colours, except those too faint for it
            background = Style(bgcolor=self.get_component_rich_style("look--cursor").bgcolor)
            line = tuple(Span(text, "text" if look in FAINT else look) for text, look in line)
        segments = [
            Segment(span.text, self.get_component_rich_style(f"look--{span.look}") + background)
            for span in line
        ]
        blank: Style = self.get_component_rich_style("look--text") + background
        return Strip(segments).adjust_cell_length(width, blank)


# What ranked rows share: moves of ranks, titles that begin alike.


def rank_moves(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return by how many ranks each id rose (positive) or fell; unmoved ones are left out."""
    return {
        row_id: before[row_id] - rank
        for row_id, rank in now.items()
        if before.get(row_id, rank) != rank
    }


def move_text(move: int) -> str:
    """Return ` ▲2` or ` ▼1`; empty for 0."""
    return f" ▲{move}" if move > 0 else f" ▼{-move}" if move < 0 else ""


LEAST_SHARED = 12
LEAST_KEPT = 6


def shared_lengths(titles: Sequence[str]) -> list[int]:
    """Return how many characters (whole words) each title shares with a neighbour's beginning."""
    lengths = [0] * len(titles)
    for index in range(len(titles) - 1):
        shared = _shared(titles[index], titles[index + 1])
        for row in (index, index + 1):
            if LEAST_SHARED <= shared < len(titles[row]):
                lengths[row] = max(lengths[row], shared)
    return lengths


def title_spans(title: str, shared: int, width: int, look: Look = "strong") -> Line:
    """Return a title in exactly `width` cells, the first `shared` characters dimmed."""
    start, rest = title[:shared], title[shared:]
    if not start:
        return (Span(fit(title, width), look),)
    if cell_len(title) > width:
        start = shorten(start, max(width - cell_len(rest), min(LEAST_KEPT, width)))
    return (Span(start, "dim"), Span(fit(rest, max(width - cell_len(start), 0)), look))


def _shared(one: str, other: str) -> int:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    length = sum(1 for _ in pairs)
    return one.rfind(" ", 0, length) + 1
