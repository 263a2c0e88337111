"""Progress and report of an index build."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from kbx_tui.knowledge.records import Problem

Stage = Literal["reading", "entities", "text index", "chunks", "vectors"]


@dataclass(frozen=True, slots=True)
class Progress:
    stage: str
    done: int
    total: int
    rate: float
    """Units of `done` per second in this stage; 0 while unknown."""
    seconds_left: float | None
    """Estimate for this stage; None while unknown."""
    searchable: bool
    """Whether this run's text and entities can be searched yet."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one index run did, and what the index holds now."""

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
    reused: int
    """Number of texts whose vector, found by hash, was already in the index."""
    problems: tuple[Problem, ...]
    seconds: Mapping[str, float]
    """Duration of each stage, and of the whole run as `total`."""
    size_bytes: int
    sizes: Mapping[str, int]
    generation: int
    repaired: tuple[str, ...] = ()
    """A sentence for each fault of a damaged index that this run found and repaired."""
    finished: bool = True
    """False when the run was cancelled; the next one continues."""


ProgressListener = Callable[[Progress], None]
Cancelled = Callable[[], bool]


class ProgressMeter:
    def __init__(self, listener: ProgressListener | None, cancelled: Cancelled) -> None:
        self._listener, self.cancelled = listener, cancelled
        self._began = self._stage_began = time.monotonic()
        self._stage: Stage = "reading"
        self._total = 0
        self.searchable = False
        self.seconds: dict[str, float] = {}

    def begin(self, stage: Stage, total: int) -> None:
        self.end()
        self._stage, self._total, self._stage_began = stage, total, time.monotonic()
        self.report(0)

    def report(self, done: int) -> None:
        if self._listener is None:
            return
        elapsed = time.monotonic() - self._stage_began
        rate = done / elapsed if done and elapsed > 0 else 0.0
        seconds_left = (self._total - done) / rate if rate else None
        self._listener(
            Progress(self._stage, done, self._total, rate, seconds_left, self.searchable)
        )

    def end(self) -> None:
        now = time.monotonic()
        spent = self.seconds.get(self._stage, 0.0) + now - self._stage_began
        self.seconds[self._stage] = spent
        self.seconds["total"] = now - self._began
        self._stage_began = now
