"""The run of indexing as the app shows it: its stages, and whether it goes on. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from kbx_tui.formatting import format_percent

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress

RunState = Literal["idle", "counting", "asking", "running", "paused", "stopped", "locked", "failed"]
"""`counting` compares files before a run; `asking` waits for the user to confirm it; `locked`
waits for another process; `stopped` lasts until the user goes on."""
STAGES = ("reading", "entities", "text index", "chunks", "vectors")
"""In the order of a run."""


@dataclass(frozen=True, slots=True)
class StageProgress:
    name: str
    done: int = 0
    total: int = 0
    rate: float = 0.0
    """Units per second, 0 while unknown."""
    seconds_left: float | None = None
    has_begun: bool = False
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class IndexRun:
    state: RunState = "idle"
    stages: tuple[StageProgress, ...] = tuple(map(StageProgress, STAGES))

    @property
    def is_active(self) -> bool:
        """Whether files are being indexed, or will be as soon as the user goes on."""
        return self.state in ("counting", "running", "paused")

    @property
    def current(self) -> StageProgress | None:
        begun = [stage for stage in self.stages if stage.has_begun and not stage.is_over]
        return begun[-1] if begun and self.is_active else None

    @property
    def short_words(self) -> str:
        """The progress of the current stage, `37 %`, or why there is none; empty when done."""
        if self.state in ("asking", "paused", "stopped", "failed"):
            return self.state
        stage = self.current
        return format_percent(stage.done / stage.total) if stage and stage.total > 1 else ""

    def in_state(self, state: RunState) -> IndexRun:
        """Return the run in another state; one that ends or begins has other stages."""
        if state == "counting":
            return IndexRun(state)
        if state == "idle":  # complete
            return IndexRun(state, tuple(replace(each, is_over=True) for each in self.stages))
        return replace(self, state=state)

    def with_progress(self, progress: Progress) -> IndexRun:
        """Return the run with the newest figures of a stage; those before it are over.

        Tasks that are not a stage of a run leave it as it is.
        """
        if progress.stage not in STAGES:
            return self
        place, stages = STAGES.index(progress.stage), []
        for number, stage in enumerate(self.stages):
            if number < place and not stage.is_over:
                stage = replace(stage, is_over=True, done=stage.total, seconds_left=None)
            elif number == place:
                stage = StageProgress(
                    stage.name,
                    progress.done,
                    progress.total,
                    progress.rate,
                    progress.seconds_left,
                    has_begun=True,
                )
            stages.append(stage)
        state: RunState = "paused" if self.state == "paused" else "running"
        return IndexRun(state, tuple(stages))
