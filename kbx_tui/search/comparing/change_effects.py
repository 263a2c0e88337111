"""What each proposed change does to the other results. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from kbx_tui.search.comparing.comparison import Comparison, compare
from kbx_tui.search.comparing.why_not import Change, WhyNot


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """A change, and the top of the search with and without it."""

    change: Change
    comparison: Comparison

    @property
    def size(self) -> tuple[int, int]:
        """How much the top changes: documents lost, then places moved by those that stay."""
        places = sum(abs(moved.distance) for moved in self.comparison.moved)
        return len(self.comparison.lost), places


def change_effects(answer: WhyNot) -> tuple[ChangeEffect, ...]:
    """Return the changes with their effects, the smallest first: it changes the top the least.

    Knobs, filters and entities have no common unit; what they do to the results is one.
    """
    effects = (
        ChangeEffect(change, compare(answer.ranking, change.after, answer.limit))
        for change in answer.changes
    )
    return tuple(sorted(effects, key=lambda effect: effect.size))
