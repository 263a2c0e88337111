"""Experts on a topic as rows, their claims below them when opened. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.formatting import count_words
from kbx_tui.safe_text import visible
from kbx_tui.tui.dedup.known_rows import place_words

if TYPE_CHECKING:
    from kbx_tui.experts.expert_ranking import Expert, ExpertRanking, Receipt

LEAST_DAYS, MOST_DAYS = 1.0, 900.0
"""Half-lives the slider reaches; equal steps are equal factors, 30 days stand in the middle."""


@dataclass(frozen=True, slots=True)
class ExpertRow:
    """One expert."""

    id: str
    rank: int
    name: str
    type: str
    score: float
    share: float
    """Of the best score, 0..1: the length of the bar."""
    counts: str
    """`5 claims · 4 sources · last 2026-04-16`."""
    is_open: bool


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """What one claim adds, under its expert."""

    expert_id: str
    text: str
    contribution: float
    status: str
    """Empty for what counts; else why it does not."""
    date: str
    place: str
    path: str
    line: int


Row = ExpertRow | ClaimRow


@dataclass(frozen=True, slots=True)
class ExpertsView:
    """A ranking as it is shown."""

    topic: str
    weight: str
    half_life_days: float
    ranking: ExpertRanking

    def rows(self, opened: Collection[str]) -> tuple[Row, ...]:
        """Return the experts, those whose ids are `opened` followed by their claims."""
        best = max((expert.score for expert in self.ranking.experts), default=0.0) or 1.0
        rows: list[Row] = []
        for rank, expert in enumerate(self.ranking.experts, 1):
            is_open = expert.entity_id in opened
            rows.append(_expert_row(expert, rank, best, is_open=is_open))
            if is_open:
                newest = sorted(expert.receipts, key=lambda one: one.date, reverse=True)
                newest.sort(key=lambda one: -one.contribution)
                rows += [_claim_row(expert, one) for one in (*newest, *expert.excluded)]
        return tuple(rows)


def days_at(value: float) -> float:
    """Return the half-life in days at a place of the slider, 0..1."""
    return float(round(LEAST_DAYS * (MOST_DAYS / LEAST_DAYS) ** value))


def value_of(days: float) -> float:
    """Return the place on the slider of a half-life in days; the ends for what lies beyond."""
    place = math.log(max(days, LEAST_DAYS) / LEAST_DAYS) / math.log(MOST_DAYS / LEAST_DAYS)
    return min(place, 1.0)


def _expert_row(expert: Expert, rank: int, best: float, *, is_open: bool) -> ExpertRow:
    last = max((one.date for one in expert.receipts), default="")
    counts = [
        count_words(expert.claim_count, "claim"),
        count_words(expert.citation_count, "source"),
    ]
    counts += [f"last {visible(last)}"] if last else []
    return ExpertRow(
        id=expert.entity_id,
        rank=rank,
        name=visible(expert.name),
        type=visible(expert.type),
        score=expert.score,
        share=expert.score / best,
        counts=" · ".join(counts),
        is_open=is_open,
    )


def _claim_row(expert: Expert, receipt: Receipt) -> ClaimRow:
    counts = receipt in expert.receipts
    return ClaimRow(
        expert_id=expert.entity_id,
        text=visible(receipt.text) if receipt.status != "redacted" else "(redacted)",
        contribution=receipt.contribution,
        status="" if counts else receipt.status,
        date=visible(receipt.date),
        place=place_words(receipt.path, receipt.line),
        path=receipt.path,
        line=receipt.line,
    )
