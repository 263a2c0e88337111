"""The search for experts on a topic: the question, and the newest answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import format_place
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.shell.messages import Newest

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.experts.expert_ranking import Expert, ExpertRanking, Receipt


WEIGHTS = ("count", "recency", "citation", "relevance")
LIMIT = 50
TOPICS_TRIED, TOPICS_SHOWN = 12, 3
"""Frequent tags that are looked at, and topics that are suggested."""
DEBOUNCE_SECONDS = 0.08
"""Seconds without a change before experts are searched."""


@dataclass(frozen=True, slots=True)
class ExpertQuestion:
    topic: str = ""
    weight: str = "count"
    half_life_days: float = 0.0
    """0 for the value of kbx.toml."""
    people: bool = False
    """Whether only people are ranked."""


class ExpertSearch:
    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self.post: Callable[[Message], object] = lambda message: None
        self.question = ExpertQuestion()
        self.view: ExpertsView | None = None
        self.topics: tuple[str, ...] = ()
        self._searches = LatestOnly(client)

    def find_topics(self) -> None:
        if not self.topics:
            self._client.start(self._find_topics())

    async def _find_topics(self) -> None:
        def find(engine: KnowledgeBase) -> tuple[str, ...]:
            if not engine.is_indexed():
                return ()
            tags = list(engine.contents().tags)[:TOPICS_TRIED]
            known = (tag for tag in tags if engine.experts(tag, limit=1).experts)
            return tuple(islice(known, TOPICS_SHOWN))

        self.topics = await self._client.run(find)
        self.post(TopicsFound(self.topics))

    def ask(self, **changes: str | float) -> None:
        question = replace(self.question, **changes)  # type: ignore[arg-type]
        if question == self.question:
            return
        self.question = question
        if question.topic:
            self._searches.start(self._search(DEBOUNCE_SECONDS))
        else:
            self._searches.cancel()
            self.view = None

    def ask_again(self) -> None:
        if self.question.topic:
            self._searches.start(self._search(0.0))

    async def _search(self, debounce: float) -> None:
        await asyncio.sleep(debounce)
        question = self.question

        def find(engine: KnowledgeBase) -> tuple[float, ExpertRanking]:
            days = question.half_life_days or engine.settings.experts.half_life_days
            return days, engine.experts(
                question.topic,
                limit=LIMIT,
                weight=question.weight,
                people=question.people,
                half_life_days=days,
            )

        days, ranking = await self._client.run(find)
        self.view = ExpertsView(question.topic, question.weight, days, ranking, question.people)
        self.post(ExpertsReady(self.view))


LEAST_DAYS, MOST_DAYS = 1.0, 900.0
"""The range of the half-life slider; its scale is logarithmic, with 30 days in the middle."""


@dataclass(frozen=True, slots=True)
class ExpertRow:
    id: str
    rank: int
    name: str
    type: str
    score: float
    share: float
    """The share of the best score, 0..1: the length of the bar."""
    counts: str
    """`5 claims · 4 sources · last 2026-04-16`."""
    is_expanded: bool


@dataclass(frozen=True, slots=True)
class ClaimRow:
    expert_id: str
    text: str
    contribution: float
    status: str
    """Empty if it counts, else why it does not."""
    date: str
    place: str
    path: str
    line: int


Row = ExpertRow | ClaimRow


@dataclass(frozen=True, slots=True)
class ExpertsView:
    topic: str
    weight: str
    half_life_days: float
    ranking: ExpertRanking
    people: bool = False
    """Whether only people are ranked."""

    def rows(self, expanded_ids: Collection[str]) -> tuple[Row, ...]:
        """Return the experts, with claims below those whose ids are in `expanded_ids`."""
        best = max((expert.score for expert in self.ranking.experts), default=0.0) or 1.0
        rows: list[Row] = []
        for rank, expert in enumerate(self.ranking.experts, 1):
            is_expanded = expert.entity_id in expanded_ids
            rows.append(_expert_row(expert, rank, best, is_expanded=is_expanded))
            if is_expanded:
                receipts = sorted(expert.receipts, key=lambda receipt: receipt.date, reverse=True)
                receipts.sort(key=lambda receipt: -receipt.contribution)
                rows += [_claim_row(expert, claim, counts=True) for claim in receipts]
                rows += [_claim_row(expert, claim, counts=False) for claim in expert.excluded]
        return tuple(rows)


def half_life_at(value: float) -> float:
    """Return the half-life in days at a slider value in 0..1."""
    return float(round(LEAST_DAYS * (MOST_DAYS / LEAST_DAYS) ** value))


def slider_value(days: float) -> float:
    value = math.log(max(days, LEAST_DAYS) / LEAST_DAYS) / math.log(MOST_DAYS / LEAST_DAYS)
    return min(value, 1.0)


def _expert_row(expert: Expert, rank: int, best: float, *, is_expanded: bool) -> ExpertRow:
    last = max((receipt.date for receipt in expert.receipts), default="")
    claims = format_count(expert.claim_count, "claim")
    sources = format_count(expert.citation_count, "source")
    partly = "" if expert.full_claim_count else "on a part of the topic"
    counts = (claims, sources, f"last {safe_line(last)}" if last else "", partly)
    return ExpertRow(
        id=expert.entity_id,
        rank=rank,
        name=safe_line(expert.name),
        type=safe_line(expert.type),
        score=expert.score,
        share=expert.score / best,
        counts=" · ".join(filter(None, counts)),
        is_expanded=is_expanded,
    )


def _claim_row(expert: Expert, receipt: Receipt, *, counts: bool) -> ClaimRow:
    return ClaimRow(
        expert_id=expert.entity_id,
        text=safe_line(receipt.text),
        contribution=receipt.contribution,
        status="" if counts else receipt.status,
        date=safe_line(receipt.date) + " (file)" * receipt.has_file_date,
        place=format_place(receipt.path, receipt.line),
        path=receipt.path,
        line=receipt.line,
    )


@dataclass
class ExpertsReady(Newest):
    view: ExpertsView


@dataclass
class TopicsFound(Message):
    topics: tuple[str, ...]
