"""What the panes of the experts mode show, in sentences for the help. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from kbx_tui.tui.experts.view import ClaimRow, ExpertRow, Row

Meanings = tuple[tuple[str, str], ...]

WEIGHTS: Mapping[str, str] = {
    "count": "Every claim counts 1, one on a part of the topic by that part.",
    "recency": "A claim loses half its weight with every half-life, counted from the newest date.",
    "citation": "A claim counts its distinct sources, times its confidence.",
    "relevance": "Claims count by how much they say of the topic, and documents on it count too.",
}


def row_words(row: Row, weight: str, edit_key: str) -> Meanings:
    """Return what the figures of an expert or of a claim mean under a weight.

    `edit_key` opens a claim in an editor; empty where there is none.
    """
    if isinstance(row, ClaimRow):
        sign = "–" if row.status else "+"
        opens = f"; {edit_key} opens it in your editor" if edit_key else ""
        counts = f"It does not count: {row.status}." if row.status else WEIGHTS[weight]
        return (
            (f"{sign} {row.contribution:.2f}", f"What this claim adds to the score. {counts}"),
            (row.place, f"Where the claim stands{opens}."),
        )
    return _expert_words(row, weight)


def half_life_words(days: str, weight: str) -> Meanings:
    """Return what the half-life does under a weight."""
    used = "" if weight == "recency" else f" Ranked by {weight}, it has no effect."
    return ((f"half-life {days}", f"The age at which a claim counts half.{used}"),)


def _expert_words(row: ExpertRow, weight: str) -> Meanings:
    return (
        (f"{row.score:.2f}", f"The sum over the claims, by {weight}. {WEIGHTS[weight]}"),
        ("▒▒▒", "The score as a share of that of the first."),
        (row.counts, "Claims are facts on the topic; sources are the distinct ones they name."),
    )
