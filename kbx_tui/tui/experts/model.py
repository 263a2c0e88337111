"""The search for experts on a topic: the question, and the newest answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.experts.messages import ExpertsReady, TopicsFound
from kbx_tui.tui.experts.view import ExpertsView

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.experts.expert_ranking import ExpertRanking

WEIGHTS = ("count", "recency", "citation", "relevance")
LIMIT = 50
"""Experts shown."""
TOPICS_TRIED, TOPICS_SHOWN = 12, 3
"""Frequent tags that are looked at, and topics that are suggested."""
DEBOUNCE_SECONDS = 0.08
"""Seconds without a change before experts are searched."""


@dataclass(frozen=True, slots=True)
class ExpertQuestion:
    """A topic, and how claims on it are weighted."""

    topic: str = ""
    weight: str = "count"
    half_life_days: float = 0.0
    """0 for the value of kbx.toml."""
    people: bool = False
    """Whether only people are ranked."""


class ExpertSearch:
    """The state of the experts mode. It outlives the screen."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self.question = ExpertQuestion()
        self.view: ExpertsView | None = None
        """The newest answer; None before the first and without a topic."""
        self.topics: tuple[str, ...] = ()
        """Topics with experts, to suggest."""
        self._searches = LatestOnly(client)

    def find_topics(self) -> None:
        """Look for topics with experts, once."""
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
        """Change the question and search after a short time without further changes."""
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
        """Ask the same question again: files changed."""
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
