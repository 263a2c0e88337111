"""What was read on the way here, so that one can go back step by step. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MOST_STEPS = 50


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was read."""

    kind: Literal["document", "card"]
    key: str
    """Path of the document or id of the entity."""


@dataclass
class Trail:
    """The last one is what is read now."""

    steps: list[Step] = field(default_factory=list)

    def go(self, step: Step) -> None:
        """Read something else."""
        if not self.steps or self.steps[-1] != step:
            self.steps.append(step)
            del self.steps[:-MOST_STEPS]

    def replace(self, step: Step) -> None:
        """Read something else in the place of what is read: going back leads past both."""
        self.steps[-1:] = [step]

    def back(self) -> Step | None:
        """Leave what is read; return what was read before, None when nothing was."""
        del self.steps[-1:]
        return self.steps[-1] if self.steps else None

    def clear(self) -> None:
        """Nothing is read any more."""
        self.steps.clear()
