"""How far indexing is, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from kbx_tui.knowledge.records import Problem

Stage = Literal["reading", "entities", "text index", "chunks", "vectors"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One report from a running index build."""

    stage: Stage
    done: int
    total: int
    rate: float
    """Units per second in this stage, 0 while unknown."""
    seconds_left: float | None
    """For this stage, None while unknown."""
    searchable: bool
    """True once text and entities of this run can be searched."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run of indexing did and what the index holds now."""

    documents: int
    chunks: int
    entities: int
    facts: int
    links: int
    vectors: int
    added: int
    changed: int
    moved: int
    deleted: int
    embedded: int
    """Texts given to the model in this run."""
    reused: int
    """Texts whose vector was known from their content hash."""
    problems: tuple[Problem, ...]
    seconds: Mapping[str, float]
    """Per stage, and `total`."""
    size_bytes: int
    generation: int
    finished: bool = True
    """False when the run was cancelled; the next one continues."""


ProgressListener = Callable[[Progress], None]
Cancelled = Callable[[], bool]


class Meter:
    """Tells a listener how far one stage is, and keeps the seconds of each."""

    def __init__(
        self, listener: ProgressListener | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._listener, self._clock = listener, clock
        self._began = self._stage_began = clock()
        self._stage: Stage = "reading"
        self._total = 0
        self.searchable = False
        self.seconds: dict[str, float] = {}

    def begin(self, stage: Stage, total: int) -> None:
        """Start a stage of `total` units; what ran before is over."""
        self.end()
        self._stage, self._total, self._stage_began = stage, total, self._clock()
        self.report(0)

    def report(self, done: int) -> None:
        """Tell that `done` of the stage's units are done."""
        if self._listener is None:
            return
        passed = self._clock() - self._stage_began
        rate = done / passed if done and passed > 0 else 0.0
        left = (self._total - done) / rate if rate else None
        self._listener(Progress(self._stage, done, self._total, rate, left, self.searchable))

    def end(self) -> None:
        """Close the running stage and add its seconds."""
        now = self._clock()
        spent = self.seconds.get(self._stage, 0.0) + now - self._stage_began
        self.seconds[self._stage] = spent
        self.seconds["total"] = now - self._began
        self._stage_began = now
