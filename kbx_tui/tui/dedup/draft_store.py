"""The drafts of one base with their checks, and the steps that can be undone. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from kbx_tui.drafting.drafts import Draft
from kbx_tui.tui.dedup.rows import DraftRow, KnownRow, draft_row, known_rows

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import DraftCheck, Verdict


MAX_STEPS = 100
StepKind = Literal["change", "threshold", "write"]


@dataclass(frozen=True, slots=True)
class ReviewStep:
    drafts: tuple[Draft, ...]
    threshold: float | None
    kind: StepKind = "change"
    """The kind of step. Successive moves of the threshold are one step."""
    entry: int | None = None
    """Number of the journal entry that was written; None when there was nothing to write."""


class DraftStore:
    def __init__(self) -> None:
        self.drafts: tuple[Draft, ...] = ()
        self.threshold: float | None = None
        """None for those of kbx.toml, which differ by kind."""
        self._checks: dict[str, DraftCheck] = {}
        self._steps: list[ReviewStep] = []

    def draft(self, draft_id: str) -> Draft | None:
        """Return a draft; None if it is gone: it may have been written since it was shown."""
        return next((draft for draft in self.drafts if draft.id == draft_id), None)

    def check(self, draft_id: str) -> DraftCheck | None:
        """Return the newest check of a draft; None while it is being checked."""
        return self._checks.get(draft_id)

    # Changes by the user: each is a step that can be undone.

    def change(self, drafts: Iterable[Draft], *, entry: int | None = None) -> None:
        """Replace all drafts; `entry` is the journal entry that was written with the change."""
        kind: StepKind = "change" if entry is None else "write"
        self.push_step(ReviewStep(self.drafts, self.threshold, kind, entry))
        self.drafts = tuple(drafts)

    def replace(self, draft_id: str, *, entry: int | None = None, **changes: Any) -> None:
        """Change fields of one draft; `entry` as in `change`."""
        drafts = (
            replace(draft, **changes) if draft.id == draft_id else draft for draft in self.drafts
        )
        self.change(drafts, entry=entry)

    def move_threshold(self, threshold: float) -> None:
        if not self._steps or self._steps[-1].kind != "threshold":
            self.push_step(ReviewStep(self.drafts, self.threshold, "threshold"))
        self.threshold = threshold

    def settle(
        self, before: tuple[Draft, ...], entry: int | None, written_ids: Iterable[str]
    ) -> None:
        """Drop drafts that a journal entry wrote; `before` are the drafts before that write."""
        self.push_step(ReviewStep(before, self.threshold, "write", entry))
        ids = set(written_ids)
        self.drafts = tuple(draft for draft in self.drafts if draft.id not in ids)

    def push_step(self, step: ReviewStep) -> None:
        """Add a step that can be undone, and forget the oldest beyond `MAX_STEPS`."""
        self._steps = [*self._steps[1 - MAX_STEPS :], step]

    def pop_step(self) -> ReviewStep | None:
        return self._steps.pop() if self._steps else None

    def take_back(self, step: ReviewStep) -> None:
        self.drafts, self.threshold = step.drafts, step.threshold

    # Checks.

    def drop_outdated_checks(self) -> list[Draft]:
        """Drop checks of drafts that changed since, and return the drafts to check.

        Drafts from a scan were checked when they were found; one that left may come back by undo.
        """
        drafts = {draft.id: draft for draft in self.drafts}
        self._checks = {
            draft_id: check
            for draft_id, check in self._checks.items()
            if check.draft.stands_for is not None
            or (draft_id in drafts and is_current(check, drafts[draft_id]))
        }
        return [draft for draft in self.drafts if draft.stands_for is None]

    def add_checks(self, checks: Sequence[DraftCheck]) -> None:
        self._checks |= {check.draft.id: check for check in checks}
        self.drafts = tuple(
            replace(draft, entity_id=self._checks[draft.id].draft.entity_id)
            if draft.id in self._checks and draft.is_guessed
            else draft
            for draft in self.drafts
        )

    # What follows from them, under the threshold.

    def verdict(self, draft_id: str) -> Verdict | None:
        from kbx_tui.drafting.deciding import decide  # loaded by the check

        check = self._checks.get(draft_id)
        return None if check is None else decide(check, self.threshold)

    def settled(self, *, unsure: bool = False) -> list[Draft]:
        """Return the drafts to write, with their choices or else the ones proposed.

        Proposals that the user should see first are included only with `unsure`.
        """
        settled = []
        for draft in self.drafts:
            if draft.choice is not None:
                settled.append(draft)
                continue
            verdict = self.verdict(draft.id)
            if verdict is not None and (verdict.is_sure or unsure):
                settled.append(replace(draft, choice=verdict.proposal))
        return settled

    def rows(self) -> tuple[DraftRow, ...]:
        return tuple(
            draft_row(draft, self.check(draft.id), self.verdict(draft.id)) for draft in self.drafts
        )

    def known(self, check: DraftCheck | None) -> tuple[KnownRow, ...]:
        if check is None:
            return ()
        numbers = {draft.id: number for number, draft in enumerate(self.drafts, 1)}
        return known_rows(check, numbers)

    def best_scores(self) -> tuple[float, ...]:
        checks = (self.check(draft.id) for draft in self.drafts)
        return tuple(check.matches[0].known.score for check in checks if check and check.matches)


def is_current(check: DraftCheck, draft: Draft) -> bool:
    checked = check.draft
    same = (checked.text, checked.kind, checked.date) == (draft.text, draft.kind, draft.date)
    return same and (draft.is_guessed or checked.entity_id == draft.entity_id)
