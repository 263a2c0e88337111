"""The history of documents and cards read, for going back step by step. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MAX_STEPS = 50


@dataclass(frozen=True, slots=True)
class Step:
    """A document or a card that was read."""

    kind: Literal["document", "card"]
    key: str
    """Path of the document or id of the entity."""


@dataclass
class History:
    """Steps in order; the last one is being read."""

    steps: list[Step] = field(default_factory=list)

    def go(self, step: Step) -> None:
        """Append a step, unless it is the current one."""
        if not self.steps or self.steps[-1] != step:
            self.steps.append(step)
            del self.steps[:-MAX_STEPS]

    def replace(self, step: Step) -> None:
        """Replace the current step."""
        self.steps[-1:] = [step]

    def back(self) -> Step | None:
        """Drop the current step and return the one before, None when there is none."""
        del self.steps[-1:]
        return self.steps[-1] if self.steps else None

    def clear(self) -> None:
        """Drop all steps."""
        self.steps.clear()
