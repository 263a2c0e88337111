"""Finding experts: what is asked for, and the newest answer. An older one is dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.tui.engine.engine_calls import EngineCalls
from kbx_tui.tui.engine.threads import EngineThread, Loop
from kbx_tui.tui.experts.view import ExpertsView
from kbx_tui.tui.messages import ExpertsReady

if TYPE_CHECKING:
    from kbx_tui.experts.expert_ranking import ExpertRanking

WEIGHTS = ("count", "recency", "citation", "relevance")
LIMIT = 50
"""Experts that are shown."""
PAUSE = 0.08
"""Seconds without a change before experts are looked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    topic: str = ""
    weight: str = "count"
    half_life_days: float = 0.0
    """0: what kbx.toml says."""


class Expertise:
    """Asks on the engine's thread, tells on the loop."""

    def __init__(
        self,
        loop: Loop,
        thread: EngineThread,
        calls: EngineCalls,
        post: Callable[[Message], object],
    ) -> None:
        self._loop, self._thread, self._calls, self._post = loop, thread, calls, post
        self.question = Question()
        self.view: ExpertsView | None = None
        """The newest answer; None before the first and without a topic."""
        self._wanted = 0
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, **changes: str | float) -> None:
        """Ask something else, once nothing more has changed for a moment."""
        after = replace(self.question, **changes)  # type: ignore[arg-type]
        if after == self.question:
            return
        self.question = after
        self._wanted += 1
        if self._timer is not None:
            self._timer.cancel()
        if after.topic:
            self._timer = self._loop.adopt().call_later(PAUSE, self._submit, self._wanted)
        else:
            self.view = None

    def again(self) -> None:
        """Files changed: ask the same once more."""
        if self.question.topic:
            self._wanted += 1
            self._submit(self._wanted)

    def _submit(self, wanted: int) -> None:
        self._thread.submit(self._find, wanted, self.question)

    def _find(self, wanted: int, question: Question) -> None:
        if wanted != self._wanted:
            return
        engine = self._calls.opened()
        days = question.half_life_days or engine.settings.experts.half_life_days
        found = engine.experts(
            question.topic, limit=LIMIT, weight=question.weight, half_life_days=days
        )
        self._loop.call(self._tell, wanted, question, days, found)

    def _tell(self, wanted: int, question: Question, days: float, found: ExpertRanking) -> None:
        if wanted == self._wanted:
            self.view = ExpertsView(question.topic, question.weight, days, found)
            self._post(ExpertsReady(self.view))
