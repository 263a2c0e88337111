"""Lines of styled text, and the mixin that draws them.

A widget draws `Line`s; `styles/` defines how a look appears, in the class `look--<look>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, NamedTuple, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from kbx_tui.tui.drawing.cell_text import fit, shorten, wrap, wrap_ranges

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
