"""The user's judgments of the open base: in memory to show, on disk before they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.judging.write_queue import Write, WriteQueue

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.judgment_log import Judgment
    from kbx_tui.evaluation.judgments import JudgedQuery
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
        from kbx_tui.evaluation.judgment_log import query_key

        return self._grades.get(query_key(query), {})

    async def load(self) -> bool:
        """Read what is on disk, and return whether it is new: another app may have judged."""
        queries = await self._client.run(lambda engine: engine.judgments())
        if queries == self.queries:
            return False
        self.queries = queries
        self._grades = {
            query.text: {**query.grades, **dict.fromkeys(query.unsure)} for query in queries
        }
        return True

    async def add(self, step: GradeStep) -> None:
        """Store a grade. Raises what `KnowledgeBase.judge` raises."""

        def write(engine: KnowledgeBase) -> None:
            step.stored = engine.judge(step.query, step.path, step.grade, tuning=step.tuning)

        await self._write(write)

    async def undo(self, step: GradeStep) -> None:
        """Take a grade back, unless it was not stored. Raises what `undo_judgment` raises."""

        def write(engine: KnowledgeBase) -> None:
            if step.stored is not None:
                engine.undo_judgment(step.stored)

        await self._write(write)

    async def _write(self, write: Write) -> None:
        await self._writes.run(write)
        await self.load()
