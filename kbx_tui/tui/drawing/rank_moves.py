"""How rows of a ranking have moved between two rankings. Pure."""

from __future__ import annotations

from collections.abc import Mapping


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
