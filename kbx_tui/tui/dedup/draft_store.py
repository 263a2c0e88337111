"""The drafts of one base with their checks, and what can be taken back. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kbx_tui.editing.state.drafts import Draft
from kbx_tui.tui.dedup.known_rows import KnownRow, known_rows
from kbx_tui.tui.dedup.review_steps import Applied, Changed, Steps
from kbx_tui.tui.dedup.view import DraftRow, draft_row
from kbx_tui.tui.engine.engine import Engine

if TYPE_CHECKING:
    from kbx_tui.drafting.checks import DraftCheck, Verdict


class Drafted:
    """Drafts in order, what was found out about each, and the threshold that judges."""

    def __init__(self) -> None:
        self.drafts: tuple[Draft, ...] = ()
        self.threshold: float | None = None
        """None: that of its kind, as kbx.toml says."""
        self._checks: dict[str, DraftCheck] = {}
        self._steps = Steps()

    def draft(self, draft_id: str) -> Draft:
        """Return a draft. Raises StopIteration for an unknown id."""
        return next(draft for draft in self.drafts if draft.id == draft_id)

    def check(self, draft_id: str) -> DraftCheck | None:
        """Return what was found out about a draft; None while it is checked."""
        return self._checks.get(draft_id)

    # What a person changes: each is a step that can be taken back.

    def change(self, drafts: Iterable[Draft]) -> None:
        """Have these drafts from now on."""
        self._steps.take(Changed(self.drafts, self.threshold))
        self.drafts = tuple(drafts)

    def replace(self, draft_id: str, **changes: Any) -> None:
        """Change one draft."""
        self.change(
            replace(draft, **changes) if draft.id == draft_id else draft for draft in self.drafts
        )

    def retune(self, threshold: float) -> None:
        """Judge under another threshold."""
        self._steps.turn(self.drafts, self.threshold)
        self.threshold = threshold

    def settle(self, before: tuple[Draft, ...], entry: int | None, done: Iterable[str]) -> None:
        """Some drafts were written, as this entry of the journal says; `before` it they were."""
        self._steps.take(Applied(before, self.threshold, entry))
        ids = set(done)
        self.drafts = tuple(draft for draft in self.drafts if draft.id not in ids)

    def last_step(self) -> Applied | Changed | None:
        """Return the last step and forget it; `take_back` completes that."""
        return self._steps.back()

    def put_back(self, step: Applied | Changed) -> None:
        """A step could not be taken back: it is the last one again."""
        self._steps.take(step)

    def take_back(self, step: Applied | Changed) -> None:
        """Have the drafts as they were before a step."""
        self.drafts, self.threshold = step.drafts, step.threshold

    # What is found out.

    def forget_stale(self) -> list[Draft]:
        """Drop checks that say nothing any more about their draft; return drafts to be checked.

        What stands for a fact of the base was checked when it was found.
        """
        told = {draft.id: draft for draft in self.drafts}
        self._checks = {
            name: check
            for name, check in self._checks.items()
            if name in told and is_of(check, told[name])
        }
        return [draft for draft in self.drafts if draft.stands_for is None]

    def take_checks(self, checks: Sequence[DraftCheck]) -> None:
        """Take checks, and whom they guessed for drafts that nobody assigned."""
        self._checks |= {check.draft.id: check for check in checks}
        self.drafts = tuple(
            replace(draft, entity_id=self._checks[draft.id].draft.entity_id)
            if draft.id in self._checks and draft.is_guessed
            else draft
            for draft in self.drafts
        )

    # What follows, under the threshold. The engine's part in it is pure.

    def verdict(self, engine: Engine | None, draft_id: str) -> Verdict | None:
        """Return what a draft is; None while it is checked."""
        check = self._checks.get(draft_id)
        return None if check is None or engine is None else engine.decide(check, self.threshold)

    def settled(self, engine: Engine | None, *, unsure: bool = False) -> list[Draft]:
        """Return the drafts to be written; those nobody decided, as proposed.

        Without `unsure` only proposals that need nobody's eyes.
        """
        settled = []
        for draft in self.drafts:
            if draft.choice is not None:
                settled.append(draft)
                continue
            verdict = self.verdict(engine, draft.id)
            if verdict is not None and (verdict.is_sure or unsure):
                settled.append(replace(draft, choice=verdict.proposal))
        return settled

    def rows(self, engine: Engine | None) -> tuple[DraftRow, ...]:
        """Return the drafts as rows."""
        return tuple(
            draft_row(draft, self.check(draft.id), self.verdict(engine, draft.id))
            for draft in self.drafts
        )

    def known(self, engine: Engine | None, check: DraftCheck | None) -> tuple[KnownRow, ...]:
        """Return what is like the draft of a check, best first."""
        if check is None or engine is None:
            return ()
        numbers = {draft.id: number for number, draft in enumerate(self.drafts, 1)}
        return known_rows(check, numbers, engine.difference)

    def best_scores(self) -> tuple[float, ...]:
        """Return the best score of every draft to which something is known."""
        return tuple(one.matches[0].known.score for one in self._checks.values() if one.matches)


def is_of(check: DraftCheck, draft: Draft) -> bool:
    """Tell whether a check still says something about a draft."""
    asked = check.draft
    same = (asked.text, asked.kind, asked.date) == (draft.text, draft.kind, draft.date)
    return same and (draft.is_guessed or asked.entity_id == draft.entity_id)
