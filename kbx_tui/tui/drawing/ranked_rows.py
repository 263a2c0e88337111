"""What ranked rows share: bars of scores, moves of ranks, titles that begin alike. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from rich.cells import cell_len

from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span

EIGHTHS = " ▏▎▍▌▋▊▉"
"""Signs that fill 0 to 7 eighths of a cell, from the left."""


def score_bar(
    document: float, entity: float, reranker: float, width: int, *, full: float = 1.0
) -> tuple[str, str, str]:
    """Return the parts of a score as bars that fill `width` cells together at the score `full`.

    The document part ends at an eighth of a cell. The others have whole cells, because their signs
    distinguish them from it without colour.
    """
    scale = width * 8 / full if full > 0.0 else 0.0
    room = width * 8
    first = min(round(document * scale) or int(document > 0.0), room)
    bar = "█" * (first // 8) + (EIGHTHS[first % 8] if first % 8 else "")
    left = width - len(bar)
    second = min(round(entity * scale / 8), left)
    third = min(round(reranker * scale / 8), left - second)
    return bar, "▒" * second, "░" * third


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
