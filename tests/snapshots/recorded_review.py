"""The recorded engine for dedup and experts; decisions and word diffs are computed for real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kbx_tui.drafting.deciding import decide, merged_text
from kbx_tui.drafting.differences import Difference, difference
from kbx_tui.drafting.drafts import Draft
from kbx_tui.drafting.records import Applied, DraftCheck, DraftMatch, Plan, PlannedFile, Verdict
from kbx_tui.experts.expert_ranking import ExpertRanking
from kbx_tui.similarity.conflict_guard import Conflict


class Review(msgspec.Struct):
    """The answers about some drafts and one topic."""

    checks: tuple[DraftCheck, ...]
    diffs: dict[str, str]
    """By text of the draft."""
    experts: dict[str, ExpertRanking]
    """By weight."""


class RecordedReview:
    """Stands in for the drafting and expert methods of `KnowledgeBase`."""

    def __init__(self, review: Review, drafts: Sequence[Draft]) -> None:
        self._review, self._drafts = review, tuple(drafts)

    def drafts(self) -> tuple[Draft, ...]:
        return self._drafts

    def drafts_in(self, file: str) -> tuple[Draft, ...]:
        return tuple(check.draft for check in self._review.checks)

    def save_drafts(self, drafts: Sequence[Draft]) -> None:
        self._drafts = tuple(drafts)

    def check_drafts(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        checks = {check.draft.text: check for check in self._review.checks}
        return [
            replace(
                checks[draft.text],
                draft=replace(draft, entity_id=checks[draft.text].draft.entity_id),
            )
            for draft in drafts
        ]

    def scan_drafts(self) -> list[DraftCheck]:
        return []

    def decide(self, check: DraftCheck, threshold: float | None = None) -> Verdict:
        return decide(check, threshold)

    def difference(self, left: str, right: str, conflicts: Sequence[Conflict] = ()) -> Difference:
        return difference(left, right, conflicts)

    def merged_text(self, check: DraftCheck, match: DraftMatch) -> str:
        return merged_text(check.written or check.draft.text, match.written or match.known.text)

    def plan(self, drafts: Sequence[Draft]) -> Plan:
        files = tuple(
            PlannedFile("", b"", b"", (), (draft.id,), diff)
            for draft in drafts
            if (diff := self._review.diffs.get(draft.text))
        )
        return Plan(files, (), ())

    def apply(self, plan: Plan, progress: Any = None) -> Applied:
        raise AssertionError("snapshots write nothing")

    def undo(self, number: int | None = None) -> Any:
        raise AssertionError("snapshots write nothing")

    def create_page(self, name: str, kind: str = "person") -> Any:
        raise AssertionError("snapshots write nothing")

    def label(self, left: str, right: str, same: bool) -> int:
        return 1

    def labelled(self) -> tuple[Any, ...]:
        return ()

    def measure(self, labelled: Sequence[Any], threshold: float) -> None:
        return None

    def experts(
        self, topic: str, limit: int = 10, min_claims: int = 1, weight: str = "count",
        **options: Any,
    ) -> ExpertRanking:  # fmt: skip
        return self._review.experts[weight]


def diffs_of(checks: Sequence[DraftCheck], plans: Mapping[str, str], today: str) -> dict[str, str]:
    """Return diffs by the text of their draft, with `today` replaced by DAY."""
    return {
        check.draft.text: plans[check.draft.id].replace(today, DAY)
        for check in checks
        if plans.get(check.draft.id)
    }


DAY = "2026-05-02"
"""The date of today in every snapshot."""
