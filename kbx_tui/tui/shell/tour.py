"""A tour of explore in six steps, each of which waits for its key. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TourStep:
    """One thing to try."""

    command: str
    """Id of the command whose key goes to the next step."""
    words: str
    """What to do; `{key}` is its key, `{row}` what moves."""


ALPHA_STEP = "alpha.more"
"""The step that ends only when a row has moved."""

STEPS: tuple[TourStep, ...] = (
    TourStep("query.earlier", "Press {key} to ask a question. Answers come as you type, too."),
    TourStep(
        "query.results",
        "Press {key} to go to the results. Left are the people and projects you named; right, why"
        " a result is where it is.",
    ),
    TourStep(
        ALPHA_STEP,
        "Press {key} and watch {row} move: alpha now weighs a document's own text more, its"
        " entities less.",
    ),
    TourStep("undo", "Press {key} to take that back. It undoes any change, a step at a time."),
    TourStep("results.read", "Press {key} to read the result, at the passage that matches."),
    TourStep(
        "app.help",
        "Press {key} for the keys of a pane, and what its numbers mean. That was the tour;"
        " `kbx demo --tour` shows it again.",
    ),
)


class Tour:
    """The place in the tour."""

    def __init__(self) -> None:
        self._index = len(STEPS)

    @property
    def step(self) -> TourStep | None:
        """The current step; None before the beginning and after the end."""
        return STEPS[self._index] if self._index < len(STEPS) else None

    def start(self) -> None:
        """Go to the first step."""
        self._index = 0

    def end(self) -> None:
        """Leave the tour."""
        self._index = len(STEPS)

    def take(self, key: str, keys_of: Callable[[str], tuple[str, ...]]) -> bool:
        """Go to the next step if this is the key of the current one; return whether it was."""
        if self.step is None or key not in keys_of(self.step.command):
            return False
        self._index += 1
        return True

    def words(self, key_of: Callable[[str], str], row: str) -> str:
        """Return the current step, `2/6  Press ↓ ...`; empty without one."""
        if self.step is None:
            return ""
        words = self.step.words.replace("{key}", key_of(self.step.command))
        return f"{self._index + 1}/{len(STEPS)}  {words.replace('{row}', row)}"
