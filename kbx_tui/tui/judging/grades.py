"""The user's judgments of the open base: in memory to show, on disk before they are shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from kbx_tui.errors import KbxError
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.judgments import JudgedQuery, Judgment
    from kbx_tui.search.evidence.tuning import Tuning


@dataclass(eq=False, slots=True)
class GradeStep:
    """A grade that the user gave."""

    query: str
    path: str
    title: str
    grade: int | None
    """0..3; None for not sure."""
    tuning: Tuning
    """What ranked the document."""
    stored: Judgment | None = None
    """None until it is on disk."""


class GradeStore:
    """Grades of all queries."""

    def __init__(self, client: EngineClient, writes: WriteQueue) -> None:
        self._client, self._writes = client, writes
        self.queries: tuple[JudgedQuery, ...] = ()
        """All judged queries, as last read."""
        self._grades: Mapping[str, Mapping[str, int | None]] = {}

    def of(self, query: str) -> Mapping[str, int | None]:
        """Return the grades of a query by path, None for not sure."""
        from kbx_tui.evaluation.judgments import query_key

        return self._grades.get(query_key(query), {})

    async def load(self) -> bool:
        """Read what is on disk, and return whether it is new: another app may have judged."""
        queries = await self._client.run(lambda engine: engine.judgments.queries())
        if queries == self.queries:
            return False
        self.queries = queries
        self._grades = {
            query.text: {**query.grades, **dict.fromkeys(query.unsure)} for query in queries
        }
        return True

    async def add(self, step: GradeStep) -> None:
        """Store a grade. Raises what `kb.judgments.add` raises."""

        def write(engine: KnowledgeBase) -> None:
            step.stored = engine.judgments.add(
                step.query, step.path, step.grade, tuning=step.tuning
            )

        await self._write(write)

    async def undo(self, step: GradeStep) -> None:
        """Take a grade back, unless it was not stored. Raises what `undo_judgment` raises."""

        def write(engine: KnowledgeBase) -> None:
            if step.stored is not None:
                engine.judgments.undo(step.stored)

        await self._write(write)

    async def _write(self, write: Write) -> None:
        await self._writes.run(write)
        await self.load()


Write = Callable[["KnowledgeBase"], object]


class WriteQueue:
    """Writes that have not begun; the engine's thread takes them."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._waiting: deque[Write] = deque()

    @property
    def has_waiting(self) -> bool:
        """Whether there are writes that have not begun."""
        return bool(self._waiting)

    async def run(self, write: Write) -> None:
        """Return once `write` is done. Raises what it raises."""
        self._waiting.append(write)
        await self._client.run(lambda engine: self._waiting.popleft()(engine))

    def finish(self, engine: KnowledgeBase) -> None:
        """Run the waiting writes, on the engine's thread: the app is closing."""
        while self._waiting:
            try:
                self._waiting.popleft()(engine)
            except KbxError as error:
                logger().error("%s", error, exc_info=error)


DEPTH = 10
"""Results that nDCG@10 looks at."""


def judging_order(now: Sequence[str], start: Sequence[str], judged: Collection[str]) -> list[str]:
    """Return the documents to judge among the first 10 of two rankings, the next one first.

    `now` and `start` are paths, best first. A document weighs by how much the discounts
    `1 / log2(rank + 1)` of its two ranks differ, 0 beyond the first 10: by so much it would change
    the difference of nDCG. Those of equal weight come in the order of `now`, then of `start`.
    """
    discounts_now, discounts_start = _discounts(now), _discounts(start)
    weights = {
        path: abs(discounts_now.get(path, 0.0) - discounts_start.get(path, 0.0))
        for path in (*discounts_now, *discounts_start)
        if path not in judged
    }
    return sorted(weights, key=lambda path: -weights[path])


def _discounts(paths: Sequence[str]) -> dict[str, float]:
    return {path: 1.0 / log2(rank + 1) for rank, path in enumerate(paths[:DEPTH], 1)}


UNSURE, NO_GRADE = "?", " "


def grade_sign(grades: Mapping[str, int | None], path: str) -> str:
    """Return `0` to `3`, `?` for not sure, or a blank for a document without a grade."""
    if path not in grades:
        return NO_GRADE
    grade = grades[path]
    return UNSURE if grade is None else str(grade)
