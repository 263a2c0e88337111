"""The search for experts on a topic: its question and newest answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.lines import format_place
from kbx_tui.tui.engine.client import EngineClient, LatestOnly

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.experts.expert_engine import Expert, ExpertRanking, Receipt


WEIGHTS = ("count", "recency", "citation", "relevance")
LIMIT = 50
TOPICS_TRIED, TOPICS_SHOWN = 12, 5
DEBOUNCE_SECONDS = 0.08


def is_topic(tag: str) -> bool:
    """Return whether a tag is more than a word for a time or a kind of page: not `weekly`."""
    from kbx_tui.search.query.query_words import DAYS_AND_MONTHS, topic_words_of

    words = topic_words_of(folded_words(tag))
    return any(word not in DAYS_AND_MONTHS and not word.isdigit() for word in words)


@dataclass(frozen=True, slots=True)
class ExpertQuestion:
    topic: str = ""
    weight: str = "count"
    half_life_days: float = 0.0
    """Half-life in days; 0 means the value in kbx.toml."""
    people: bool = True
    """Whether only people are asked for; where none is an expert, all entities are."""


class ExpertSearch:
    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self.on_change: Callable[[], object] = lambda: None
        self.question = ExpertQuestion()
        self.view: ExpertsView | None = None
        self.topics: tuple[str, ...] = ()
        self._suggested = ""
        self._searches = LatestOnly(client)

    async def find_topics(self) -> None:
        def find(engine: KnowledgeBase) -> tuple[str, ...]:
            if not engine.is_indexed():
                return ()
            tags = (tag for tag in engine.contents().tags if is_topic(tag))
            topics = list(islice(tags, TOPICS_TRIED))
            names = (entity.name for entity in engine.entities.find("") if entity.type != "person")
            topics += islice(names, TOPICS_TRIED)
            known = (topic for topic in topics if engine.experts(topic, limit=1).experts)
            return tuple(islice(known, TOPICS_SHOWN))

        self.topics = self.topics or await self._client.run(find)
        if self.view is None:
            self.on_change()

    def topic_after(self, query: str) -> str:
        """Return the topic to open with: one that the user typed, else the query in explore."""
        if query and self.question.topic in ("", self._suggested):
            self._suggested = query
            return query
        return self.question.topic

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
            self.on_change()

    def ask_again(self) -> None:
        if self.question.topic:
            self._searches.start(self._search(0.0))

    async def _search(self, debounce: float) -> None:
        await asyncio.sleep(debounce)
        question = self.question

        def find(engine: KnowledgeBase) -> ExpertsView:
            days = question.half_life_days or engine.settings.experts.half_life_days
            asked = replace(question, half_life_days=days)
            found = engine.experts(limit=LIMIT, **asdict(asked))
            if asked.people and not found.experts:
                asked = replace(asked, people=False)
                found = engine.experts(limit=LIMIT, **asdict(asked))
            return ExpertsView(asked, found)

        self.view = await self._client.run(find)
        self.on_change()


LEAST_DAYS, MOST_DAYS = 1.0, 900.0
"""The range of the half-life slider; its scale is logarithmic, with 30 days in the middle."""


PARTLY = "on a part of the topic"
LEAST_SCORE = 0.005
"""A lower score is shown as 0.00."""


@dataclass(frozen=True, slots=True)
class ExpertRow:
    expert: Expert
    rank: int
    share: float
    """The score as a share of the best one, 0..1: the length of the bar."""
    is_expanded: bool
    says_part: bool
    """Whether to say that no fact is on the whole topic, as others have such."""

    @property
    def columns(self) -> tuple[str, str, str, str, str]:
        """The counts in words: `5 facts`, `3 on own page`, `4 sources` and `last 2026-04-16`.

        Those on its page are left out if all are.
        """
        expert = self.expert
        last = max((receipt.date for receipt in expert.receipts), default="")
        documents = sum(receipt.is_document for receipt in expert.receipts)
        others = sum(bool(receipt.why) for receipt in expert.receipts)
        own = f"{expert.claim_count - documents - others:,} on own page" if others else ""
        sources = format_count(expert.citation_count, "source")
        partly = PARTLY if self.says_part else ""
        return expert.counted, own, sources, f"last {safe_line(last)}" if last else "", partly


@dataclass(frozen=True, slots=True)
class ClaimRow:
    expert_id: str
    receipt: Receipt
    status: str

    @property
    def columns(self) -> tuple[str, str, str]:
        """Its status, or why it counts if it is on the page of another; date and place."""
        date = safe_line(self.receipt.date) + " (file)" * self.receipt.has_file_date
        place = format_place(self.receipt.path, self.receipt.line)
        return self.status or safe_line(self.receipt.why), date, place


Row = ExpertRow | ClaimRow | str
"""A text is a topic that something is known about, offered while none is typed."""


@dataclass(frozen=True, slots=True)
class ExpertsView:
    question: ExpertQuestion
    """The question as answered, with the half-life of kbx.toml in place of 0."""
    ranking: ExpertRanking

    @property
    def is_partial(self) -> bool:
        return not any(expert.full_claim_count for expert in self.ranking.experts)

    @property
    def scored(self) -> Sequence[Expert]:
        """The experts whose score is not shown as 0, or all if none is."""
        experts = self.ranking.experts
        return [expert for expert in experts if expert.score >= LEAST_SCORE] or experts

    @property
    def unscored_count(self) -> int:
        left_out = len(self.scored) < len(self.ranking.experts)
        return self.ranking.total_matched - len(self.scored) if left_out else 0

    def rows(self, expanded_ids: Collection[str]) -> Iterator[Row]:
        """Yield the scored experts, each followed by its claims if its id is in `expanded_ids`."""
        best = max((expert.score for expert in self.ranking.experts), default=0.0) or 1.0
        is_partial = self.is_partial
        for rank, expert in enumerate(self.scored, 1):
            is_expanded = expert.entity_id in expanded_ids
            says_part = not (is_partial or expert.full_claim_count)
            yield ExpertRow(expert, rank, expert.score / best, is_expanded, says_part)
            if is_expanded:
                receipts = sorted(expert.receipts, key=lambda receipt: receipt.date, reverse=True)
                receipts.sort(key=lambda receipt: -receipt.contribution)
                yield from (ClaimRow(expert.entity_id, each, "") for each in receipts)
                excluded = expert.excluded
                yield from (ClaimRow(expert.entity_id, each, each.status) for each in excluded)


def half_life_at(value: float) -> float:
    return float(round(LEAST_DAYS * (MOST_DAYS / LEAST_DAYS) ** value))


def slider_value(days: float) -> float:
    value = math.log(max(days, LEAST_DAYS) / LEAST_DAYS) / math.log(MOST_DAYS / LEAST_DAYS)
    return min(value, 1.0)
