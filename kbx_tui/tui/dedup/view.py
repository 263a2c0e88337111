"""What the dedup mode shows: drafts with their states, what is known, and what would be written.

Pure; texts of files and drafts are made harmless here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.formatting import count_words
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbx_tui.drafting.checks import DraftCheck, Verdict
    from kbx_tui.drafting.plans import Applied, DraftProblem, Plan
    from kbx_tui.editing.state.drafts import Draft

CHECKING = ("·", "checking")
"""Sign and word of a draft whose check is under way."""
KINDS = {"fact": "fact", "open_item": "open item"}


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A draft, what it was found to be, and what becomes of it."""

    id: str
    sign: str
    state: str
    text: str
    about: str
    """Whose it is and what kind, `Alice Chen (guessed) · fact`."""
    action: str
    """`create`, `merge`, `supersede`, `skip`; empty while nothing is known."""
    is_decided: bool
    """Whether a person chose the action; else it is a proposal."""
    is_sure: bool
    """Whether the proposal would be followed without a person."""
    has_page: bool
    """Whether it can be written: its entity is known and has a page."""
    reason: str
    """Why the state is what it is, one sentence without a full stop."""

    @property
    def is_settled(self) -> bool:
        """Whether `apply` takes it."""
        return self.action == "skip" or self.has_page if self.is_decided else self.is_sure


@dataclass(frozen=True, slots=True)
class ReviewView:
    """All drafts as they stand."""

    rows: tuple[DraftRow, ...]
    checking: bool
    threshold: float
    note: str
    """What the threshold means."""
    scores: tuple[float, ...] = ()
    """The best score of every draft: marks on the slider."""

    @property
    def settled(self) -> int:
        """How many drafts `apply` takes."""
        return sum(row.is_settled for row in self.rows)

    @property
    def summary(self) -> str:
        """How far deciding is, for a border."""
        if not self.rows:
            return ""
        if self.checking:
            return "checking …"
        writes = sum(row.is_settled and row.action != "skip" for row in self.rows)
        left = len(self.rows) - self.settled
        words = [count_words(writes, "write")]
        words += [f"{left} to decide"] if left else []
        return " · ".join(words)


def draft_row(draft: Draft, check: DraftCheck | None, verdict: Verdict | None) -> DraftRow:
    """Return a draft as a row; without a check it is being checked."""
    from kbx_tui.formatting import STATE_SIGNS

    owner = visible(draft.entity_name or draft.entity_id)
    owner += " (unknown)" if owner and check is not None else ""
    if check is not None and check.entity is not None:
        owner = visible(check.entity.name)
        owner += " (guessed)" if check.draft.is_guessed and not draft.entity_name else ""
        owner += "" if check.entity.path else ", no page yet"
    about = " · ".join((owner or "nobody's yet", KINDS[draft.kind]))
    sign, state = CHECKING if verdict is None else (STATE_SIGNS[verdict.state], verdict.state)
    choice = draft.choice or (verdict.proposal if verdict is not None else None)
    return DraftRow(
        id=draft.id,
        sign=sign,
        state=state,
        text=visible(draft.text),
        about=about,
        action=choice.action if choice is not None else "",
        is_decided=draft.choice is not None,
        is_sure=verdict is not None and verdict.is_sure,
        has_page=check is not None and check.entity is not None and bool(check.entity.path),
        reason=visible(verdict.reason) if verdict is not None else "",
    )


def applied_words(applied: Applied, problems: Sequence[DraftProblem]) -> str:
    """Return in one sentence what was written, and why the rest was not."""
    parts = [
        f"{count} {word}"
        for count, word in (
            (applied.created, "created"),
            (applied.merged, "merged"),
            (applied.superseded, "superseded"),
            (applied.skipped, "skipped"),
        )
        if count
    ]
    words = ", ".join(parts) or "nothing written"
    if problems:
        first = visible(problems[0].reason)
        words += f"; {count_words(len(problems), 'draft')} could not be: {first}"
    return words


def plan_lines(plan: Plan) -> tuple[str, ...]:
    """Return the exact diff of a plan, and why parts of it cannot be carried out."""
    problems = [f"✗ {visible(problem.reason)}" for problem in plan.problems]
    diff = plan.diff.splitlines()
    return (*problems, *map(visible, diff)) or ("nothing would be written",)
