"""The recorded engine for dedup and experts; decisions and word diffs are computed for real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kbx_tui.drafting.drafts import Draft
from kbx_tui.drafting.records import Applied, DraftCheck, Plan, PlannedFile
from kbx_tui.experts.expert_ranking import ExpertRanking


class Review(msgspec.Struct):
    """The answers about some drafts and one topic."""

    checks: tuple[DraftCheck, ...]
    diffs: dict[str, str]
    """By text of the draft."""
    experts: dict[str, ExpertRanking]
    """By weight."""


class RecordedDrafts:
    """Stands in for `kb.drafts`."""

    def __init__(self, review: Review) -> None:
        self._review, self._drafts = review, tuple[Draft, ...]()

    def stored(self) -> tuple[Draft, ...]:
        return self._drafts

    def in_file(self, file: str) -> tuple[Draft, ...]:
        return tuple(check.draft for check in self._review.checks)

    def save(self, drafts: Sequence[Draft]) -> None:
        self._drafts = tuple(drafts)

    def check(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        checks = {check.draft.text: check for check in self._review.checks}
        return [
            replace(
                checks[draft.text],
                draft=replace(draft, entity_id=checks[draft.text].draft.entity_id),
            )
            for draft in drafts
        ]

    def scan(self) -> list[DraftCheck]:
        return []

    def plan(self, drafts: Sequence[Draft]) -> Plan:
        files = tuple(
            PlannedFile("", b"", b"", (), (draft.id,), diff)
            for draft in drafts
            if (diff := self._review.diffs.get(draft.text))
        )
        return Plan(files, (), ())

    def apply(self, plan: Plan, progress: Any = None) -> Applied:
        raise AssertionError("snapshots write nothing")

    def label(self, left: str, right: str, same: bool) -> int:
        return 1

    def labelled(self) -> tuple[Any, ...]:
        return ()


def diffs_of(checks: Sequence[DraftCheck], plans: Mapping[str, str], today: str) -> dict[str, str]:
    """Return diffs by the text of their draft, with `today` replaced by DAY."""
    return {
        check.draft.text: plans[check.draft.id].replace(today, DAY)
        for check in checks
        if plans.get(check.draft.id)
    }


DAY = "2026-05-02"
"""The date of today in every snapshot."""
