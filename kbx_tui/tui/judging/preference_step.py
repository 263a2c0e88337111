"""Preferences between the results of A and of the current settings: one to store, and the sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_p

if TYPE_CHECKING:
    from kbx_tui.evaluation.preferences.preference import Better, Preference, ShownList, Votes

SIGNIFICANCE = 0.05
"""As in `evaluation.significance`, which needs numpy."""


@dataclass(eq=False, slots=True)
class PreferenceStep:
    """An answer of the user to which of two lists is better."""

    query: str
    first: ShownList
    second: ShownList
    better: Better
    stored: Preference | None = None
    """None until it is on disk."""


def vote_words(votes: Votes) -> tuple[str, ...]:
    """Return how often each setting was preferred, the longest wording first; () for never.

    `preferred: A 1, current 8, neither 2 (sign test p .039)`.
    """
    if not (votes.wins_a or votes.wins_b or votes.neither):
        return ()
    counts = f"preferred: A {votes.wins_a}, current {votes.wins_b}, neither {votes.neither}"
    p = format_p(votes.p)
    short = f"preferred {votes.wins_a}:{votes.wins_b}"
    return f"{counts} (sign test p {p})", f"{short} (p {p})", short


def vote_sentences(votes: Votes) -> tuple[str, ...]:
    """Return what the preferences for two settings show, in sentences."""
    if not (words := vote_words(votes)):
        return ("There is no preference between these two settings yet.",)
    decided = votes.wins_a + votes.wins_b
    first = f"{words[0][0].upper()}{words[0][1:]}."
    if not decided:
        return first, "That speaks for neither of them."
    better = "A" if votes.wins_a > votes.wins_b else "the current settings"
    if votes.p <= SIGNIFICANCE:
        return first, f"If both were equally good, such a difference would be rare: {better} win."
    return first, (
        f"With {format_count(decided, 'query')} decided, that may be chance: keep what you have, or"
        " ask more queries."
    )
