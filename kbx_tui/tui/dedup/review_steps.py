"""What can be taken back in the dedup mode: changes of drafts, and whole batches that were written.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbx_tui.editing.state.drafts import Draft

MOST = 100
"""Steps that are kept."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The drafts as they were before a change."""

    drafts: tuple[Draft, ...]
    threshold: float | None
    turns: bool = False
    """Whether the change was a move of the threshold: moves in one go are one step."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The drafts as they were before a batch was written."""

    drafts: tuple[Draft, ...]
    threshold: float | None
    entry: int | None
    """Number in the journal; None when nothing had to be written."""


class Steps:
    """The steps a person took, the last one on top."""

    def __init__(self) -> None:
        self._steps: list[Changed | Applied] = []

    def take(self, step: Changed | Applied) -> None:
        """Note a step."""
        self._steps = [*self._steps[1 - MOST :], step]

    def turn(self, drafts: tuple[Draft, ...], threshold: float | None) -> None:
        """Note a move of the threshold, unless it goes on with the one before."""
        last = self._steps[-1] if self._steps else None
        if not (isinstance(last, Changed) and last.turns):
            self.take(Changed(drafts, threshold, turns=True))

    def back(self) -> Changed | Applied | None:
        """Return the last step and forget it."""
        return self._steps.pop() if self._steps else None
