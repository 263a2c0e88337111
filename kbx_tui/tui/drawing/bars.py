"""Bars for scores, in a few cells and eighths of a cell. Pure."""

from __future__ import annotations

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
