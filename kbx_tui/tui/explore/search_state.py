"""What a person asks for: query, scope, mode and knobs, as one value that can be undone. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Mode = Literal["two-pass", "flat", "fast"]
MODES: tuple[Mode, ...] = ("two-pass", "flat", "fast")
Sort = Literal["score", "date"]

UNDO_STEPS = 100
KNOBS = ("alpha", "threshold")
GRADUAL = (*KNOBS, "path")
"""Fields that change in many small steps: a move in one go is one step to undo."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything that decides what the screen shows."""

    query: str = ""
    path: str = ""
    """Path filter as typed, empty for everywhere."""
    mode: Mode = "two-pass"
    sort: Sort = "score"
    alpha: float = 0.5
    threshold: float = 0.5
    muted: frozenset[str] = frozenset()
    """Ids of entities left out."""
    pinned: frozenset[str] = frozenset()
    """Ids of entities the query is about whatever pass 1 says."""

    @property
    def retrieved(self) -> tuple[str, str, bool, frozenset[str]]:
        """The part that evidence is retrieved for; the rest only ranks it."""
        return self.query, self.path, self.mode == "fast", self.pinned


@dataclass
class Undo:
    """The askings before this one. What is typed is not among them: a field has its own undo."""

    steps: list[Asking] = field(default_factory=list)
    _moving: str = ""

    def remember(self, before: Asking, changed: set[str]) -> None:
        """Keep `before`, unless the same knob was moved just before as well."""
        if "query" in changed:  # what a field has an undo of its own for, and what goes with it
            self._moving = ""
            return
        knob = next(iter(changed)) if len(changed) == 1 else ""
        if knob in GRADUAL and knob == self._moving:
            return
        self._moving = knob
        self.steps.append(before)
        del self.steps[:-UNDO_STEPS]

    def back(self, now: Asking) -> Asking | None:
        """Return the asking to go back to, with the query of now; None when there is none."""
        self._moving = ""
        while self.steps:
            before = self.steps.pop()
            if before.query != now.query:  # muting and pinning are for one query
                before = replace(before, muted=now.muted, pinned=now.pinned, query=now.query)
            if before != now:
                return before
        return None


def changed_fields(before: Asking, after: Asking) -> set[str]:
    """Return the names of the fields that differ."""
    return {
        name
        for name in Asking.__dataclass_fields__
        if getattr(before, name) != getattr(after, name)
    }


def change_words(before: Asking, after: Asking, name_of: Callable[[str], str]) -> str:
    """Return in words what undoing did: `alpha is .50 again`; `name_of` gives an entity's name."""
    words: list[str] = []
    for name in changed_fields(before, after):
        value: Any = getattr(after, name)
        if name in KNOBS:
            words.append(f"{name} is {value:.2f} again".replace(" 0.", " ."))
        elif name == "path":
            words.append(f"searching {value or 'everywhere'} again")
        elif name in ("mode", "sort"):
            words.append(f"{name} is {value} again")
        else:
            ids = getattr(before, name) ^ value
            words.append(f"{name}: {', '.join(sorted(map(name_of, ids)))} as before")
    return "; ".join(sorted(words))


def command_line(asking: Asking, defaults: Asking, root: str = "") -> str:
    """Return the command that gives the same results; knobs that stand at `defaults` are left out.

    What the command line cannot say (pinned and muted entities, order by date) is not in it.
    """
    words = ["kbx", "search"]
    if root:
        words += ["--kb", root]
    if asking.path:
        words += ["--path", asking.path]
    if asking.mode == "fast":
        words.append("--fast")
    elif asking.mode == "flat":
        words.append("--no-hierarchy")
    else:
        if asking.alpha != defaults.alpha:
            words += ["--hierarchy-alpha", f"{asking.alpha:g}"]
        if asking.threshold != defaults.threshold:
            words += ["--hierarchy-threshold", f"{asking.threshold:g}"]
    return shlex.join(
        [*words, "--", asking.query] if asking.query[:1] == "-" else [*words, asking.query]
    )
