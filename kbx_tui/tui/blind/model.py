"""Finds queries on which two settings differ, and stores which results the user prefers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.tui.blind.messages import Asked, Looked, NothingLeft
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.judging.preference_step import PreferenceStep, vote_words

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.preferences.preference import Better, Preference, Votes
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.tui.blind.question import Question

PAUSE_SECONDS = 0.005
"""Pause between two background searches."""


class BlindModel:
    """One round of questions about two settings, which stay as they are meanwhile.

    Asked are the query on the screen, the judged queries and the past ones, in this order.
    """

    def __init__(
        self,
        client: EngineClient,
        judging: JudgingModel,
        query: str,
        settings: tuple[Tuning, Tuning],
        *,
        random: Random | None = None,
    ) -> None:
        """`settings` are A and the current ones; `random` decides which list is shown first."""
        self._client, self._judging = client, judging
        self._query, self._settings = query, settings
        self._random = random or Random()
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self.question: Question | None = None
        """The one on the screen."""
        self.answered = 0
        self._answers: list[tuple[Question, Callable[[], object]]] = []
        """Of this round, each with the call that takes it back."""
        self._queries: tuple[str, ...] = ()
        self._left: deque[str] = deque()
        self._finding = LatestOnly(client)

    @property
    def is_looking(self) -> bool:
        """Whether the next question is being looked for."""
        return self._finding.is_running

    def start(self) -> None:
        """Look for the first question."""
        self._finding.start(self._begin())

    def stop(self) -> None:
        """Stop looking, and say what the preferences for the two settings are by now."""
        self._finding.cancel()
        if self.answered:
            self._client.start(self._sum_up())

    def answer(self, better: Better) -> None:
        """Store which list is better, and go on."""
        if (question := self.question) is None:
            return
        step = PreferenceStep(question.query, question.first, question.second, better)
        self._answers.append((question, self._judging.prefer(step)))
        self.answered += 1
        self._go_on()

    def skip(self) -> None:
        """Go on without an answer; the query comes again in another round."""
        if self.question is not None:
            self._go_on()

    def undo(self) -> bool:
        """Take the last answer back, and ask again; False without one."""
        if not self._answers:
            return False
        again, undo = self._answers.pop()
        undo()
        self.answered -= 1
        if self.question is not None:
            self._left.appendleft(self.question.query)
        self._finding.cancel()
        self._show(again)
        return True

    def _go_on(self) -> None:
        self.question = None
        self._finding.start(self._find())

    def _show(self, question: Question) -> None:
        self.question = question
        self.post(Asked(question))

    async def _begin(self) -> None:
        def read(engine: KnowledgeBase) -> list[str]:
            judged = [query.text for query in engine.judgments()]
            past = [past.query for past in engine.query_history()]
            return [query for query in (self._query, *judged, *past) if query]

        self._queries = tuple(dict.fromkeys(await self._client.run(read)))
        self._left = deque(self._queries)
        await self._find()

    async def _find(self) -> None:
        """Find the next query on which the two settings differ, and ask about it."""

        def find(engine: KnowledgeBase) -> Question | None:
            from kbx_tui.tui.blind.question import ask

            return ask(engine, query, self._settings, given(engine), self._random)

        def given(engine: KnowledgeBase) -> Sequence[Preference]:
            return engine.preferences()

        while self._left:
            query = self._left[0]
            total = len(self._queries)
            self.post(Looked(total - len(self._left), total))
            question = await self._client.run(find)
            self._left.popleft()
            if question is not None:
                self._show(question)
                return
            await asyncio.sleep(PAUSE_SECONDS)
        self.post(NothingLeft(await self._count(), len(self._queries)))

    async def _count(self) -> Votes:
        before, after = self._settings
        return await self._client.run(lambda engine: engine.count_preferences(before, after))

    async def _sum_up(self) -> None:
        if words := vote_words(await self._count()):
            self._judging.say(words[0])
