"""Titles that begin like their neighbours: what they share is dimmed, and cut first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from rich.cells import cell_len

from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span

LEAST_SHARED = 12
"""A shorter beginning tells little, and is left as it is."""
LEAST_KEPT = 6
"""Cells of a shared beginning that are kept where a title is cut."""


def shared_lengths(titles: Sequence[str]) -> list[int]:
    """Return how many characters each title shares with the beginning of a title next to it.

    Whole words only, and never the whole title.
    """
    lengths = [0] * len(titles)
    for index in range(len(titles) - 1):
        shared = _shared(titles[index], titles[index + 1])
        for row in (index, index + 1):
            if LEAST_SHARED <= shared < len(titles[row]):
                lengths[row] = max(lengths[row], shared)
    return lengths


def title_spans(title: str, shared: int, width: int) -> Line:
    """Return a title in exactly `width` cells, the first `shared` characters dimmed."""
    start, rest = title[:shared], title[shared:]
    if not start:
        return (Span(fit(title, width), "strong"),)
    if cell_len(title) > width:
        start = shorten(start, max(width - cell_len(rest), min(LEAST_KEPT, width)))
    return (Span(start, "dim"), Span(fit(rest, max(width - cell_len(start), 0)), "strong"))


def _shared(one: str, other: str) -> int:
    """Return the length of the words that both texts begin with, and the space after them."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    length = sum(1 for _ in pairs)
    return one.rfind(" ", 0, length) + 1
