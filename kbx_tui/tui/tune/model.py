"""The state of the tune mode: the curve, past queries, snapshots and advice.

Every figure comes from the evidence of the judged queries that `judging` keeps; none of the knobs
is measured by searching again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from kbx_tui.tui.engine.client import EngineClient, LatestOnly, Status
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.search_state import knobs_of
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.shell.messages import Newest
from kbx_tui.tui.tune.curve import TUNABLES, Tunable, Value, tunables_for
from kbx_tui.tui.tune.past_queries import PastQueries, PastQueryReader
from kbx_tui.tui.tune.snapshots import SnapshotRow, compare_snapshots, snapshot_rows

if TYPE_CHECKING:
    from kbx_tui.evaluation.blind_preferences import Votes
    from kbx_tui.evaluation.judgments import TuningSnapshot
    from kbx_tui.evaluation.metrics import PairedDifference
    from kbx_tui.evaluation.optimise import Advice
    from kbx_tui.search.request import Tuning
    from kbx_tui.tui.tune.curve import Curve, Measure


SETTLE_SECONDS = 0.2
"""Seconds without a change before p-values are computed, which takes longer than a curve."""


class _StoppedError(Exception):
    pass


@dataclass
class TuneChanged(Newest):
    part: Literal["curve", "past", "snapshots", "advice"]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TuneChanged) and message.part == self.part


class TuneModel:
    """What the tune mode shows. It outlives the screen."""

    def __init__(
        self, client: EngineClient, status: Status, judging: JudgingModel, explore: ExploreModel
    ) -> None:
        self._client, self._status = client, status
        self.judging, self.explore = judging, explore
        self.post: Callable[[Message], object] = lambda message: None
        self.knob: Tunable = TUNABLES[0]
        self.measure: Measure = "ndcg"
        self.query = ""
        self.curve: Curve | None = None
        """None without a judged query, for a fast search, and while queries are read."""
        self.p: float | None = None
        """p-value of the best value of the curve; None while it is not known."""
        self.steps: tuple[float, ...] = ()
        self.votes: Votes | None = None
        self.past_queries = PastQueryReader(client, partial(self._tell, "past"))
        self._snapshots: tuple[TuningSnapshot, ...] = ()
        self._differences: tuple[PairedDifference | None, ...] = ()
        self.advice: Advice | None = None
        self.progress: tuple[int, int] | None = None
        """How many of all searches for the best knobs are done; None while nothing is optimised."""
        self._optimising = LatestOnly(client)
        self._stopped = threading.Event()
        self._settling = LatestOnly(client)
        self._version = 0
        self._is_reading = False

    def _tell(self, part: Literal["curve", "past", "snapshots", "advice"]) -> None:
        self.post(TuneChanged(part))

    @property
    def tuning(self) -> Tuning | None:
        settings = self.explore.settings
        return None if settings is None or settings.is_fast else settings.tuning

    @property
    def past(self) -> PastQueries | None:
        pinned, tuning = self.judging.pinned, self.tuning
        if pinned is None or tuning is None:
            return None
        return self.past_queries.view(pinned.tuning.entity_threshold, tuning.entity_threshold)

    def open(self) -> None:
        if self.explore.is_searchable:
            self.judging.start()
        self.refresh()
        self._client.start(self._load_snapshots())

    def close(self) -> None:
        self.past_queries.stop()

    def note_index_change(self) -> None:
        self.past_queries.forget()

    # The curve.

    def refresh(self) -> None:
        if self.tuning is not None and self.knob not in tunables_for(self.tuning):
            self.knob = TUNABLES[0]
        self._version += 1
        self.votes = None
        self._settling.cancel()
        if not self._is_reading:
            self._is_reading = True
            self._client.start(self._read())
        self._tell("past")

    def look_at(self, query: str) -> None:
        if query != self.query:
            self.query = query
            self.refresh()

    def next_knob(self) -> None:
        knobs = tunables_for(self.tuning) if self.tuning is not None else TUNABLES
        self.knob = knobs[(list(knobs).index(self.knob) + 1) % len(knobs)]
        self.refresh()

    def next_measure(self) -> None:
        self.measure = "judged" if self.measure == "ndcg" else "ndcg"
        self.refresh()

    def move(self, knob: Tunable, value: Value) -> None:
        self.explore.update(**{knob.state_field: value})

    def use(self, tuning: Tuning) -> None:
        self.explore.update(**knobs_of(tuning))

    async def _read(self) -> None:
        done = -1
        try:
            while done != self._version:
                done = self._version
                await self._read_curve()
                self._tell("curve")
        finally:
            self._is_reading = False
        self._settling.start(self._settle())

    async def _read_curve(self) -> None:
        tuning, knob, measure, query = self.tuning, self.knob, self.measure, self.query
        if tuning is None:
            self.curve, self.p, self.steps = None, None, ()
            return

        def read() -> tuple[Curve | None, tuple[float, ...]]:
            from kbx_tui.tui.tune.curve_reading import read_curve, steps_of_query

            kept = self.judging.evidence.get(tuning.preset)
            if not kept:
                return None, ()
            steps = steps_of_query(kept, query, knob, tuning)
            return read_curve(kept, knob, measure, tuning), steps

        curve, self.steps = await self.judging.evidence.run(read)
        if curve != self.curve:
            self.curve, self.p = curve, None

    async def _settle(self) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        tuning, curve = self.tuning, self.curve
        if tuning is None:
            return
        self.past_queries.read(tuning)
        if curve is not None and self.p is None:

            def compute() -> float | None:
                from kbx_tui.tui.tune.curve_reading import p_of_best

                kept = self.judging.evidence.get(tuning.preset)
                return p_of_best(kept, curve) if kept else None

            self.p = await self.judging.evidence.run(compute)
            self._tell("curve")
        await self._compare_snapshots()
        pinned = self.judging.pinned
        if pinned is not None and not pinned.is_fast:
            self.votes = await self._client.run(
                lambda engine: engine.preferences.count(pinned.tuning, tuning)
            )
            self._tell("curve")

    # Snapshots.

    @property
    def snapshots(self) -> tuple[SnapshotRow, ...]:
        return snapshot_rows(self._snapshots, self._differences, self.judging.pinned)

    def take_snapshot(self) -> None:
        if (tuning := self.tuning) is None:
            self._status.show_notice("a fast search has no knobs to keep")
        else:
            self._client.start(self._take_snapshot(tuning))

    async def _take_snapshot(self, tuning: Tuning) -> None:
        await self._client.run(lambda engine: engine.tuner.take_snapshot(tuning))
        await self._load_snapshots()
        await self._compare_snapshots()

    def drop_snapshot(self, snapshot: TuningSnapshot) -> None:
        self._client.start(self._drop_snapshot(snapshot))

    async def _drop_snapshot(self, snapshot: TuningSnapshot) -> None:
        await self._client.run(lambda engine: engine.tuner.snapshots.remove(snapshot))
        self.explore.remember(lambda: self._client.start(self._restore_snapshot(snapshot)))
        await self._load_snapshots()
        await self._compare_snapshots()

    async def _restore_snapshot(self, snapshot: TuningSnapshot) -> None:
        await self._client.run(lambda engine: engine.tuner.snapshots.restore(snapshot))
        self._status.show_notice("the snapshot is back in the list")
        await self._load_snapshots()
        await self._compare_snapshots()

    async def _load_snapshots(self) -> None:
        snapshots = await self._client.run(lambda engine: engine.tuner.snapshots.read())
        if snapshots != self._snapshots:
            self._snapshots, self._differences = snapshots, (None,) * len(snapshots)
        self._tell("snapshots")

    async def _compare_snapshots(self) -> None:
        tuning, snapshots, evidence = self.tuning, self._snapshots, self.judging.evidence
        if tuning is None or not snapshots:
            return

        def compare() -> tuple[PairedDifference | None, ...]:
            return compare_snapshots(evidence.get(tuning.preset), tuning, snapshots)

        differences = await evidence.run(compare)
        if snapshots == self._snapshots:
            self._differences = differences
            self._tell("snapshots")

    # Optimising, on the measuring thread.

    def optimise(self, tuning: Tuning) -> None:
        self.stop_optimising()
        self.progress, self._stopped = (0, 1), threading.Event()
        self._optimising.start(self._optimise(tuning, self._stopped))
        self._tell("advice")

    def stop_optimising(self) -> None:
        self._stopped.set()
        self._optimising.cancel()
        self.progress = self.advice = None
        self._tell("advice")

    async def _optimise(self, tuning: Tuning, stopped: threading.Event) -> None:
        def advise() -> Advice | None:
            from kbx_tui.evaluation import optimise

            kept = self.judging.evidence.get(tuning.preset)
            return optimise.advise(kept, tuning, progress=tell) if kept else None

        def tell(done: int, total: int) -> None:
            if stopped.is_set():
                raise _StoppedError
            self._client.call_on_loop(self._show_progress, stopped, done, total)

        try:
            advice = await self.judging.evidence.run(advise)
        except _StoppedError:
            return
        except Exception:
            self.stop_optimising()
            raise
        self.advice, self.progress = advice, None
        self._tell("advice")

    def _show_progress(self, stopped: threading.Event, done: int, total: int) -> None:
        if not stopped.is_set() and self.progress is not None:
            self.progress = done, total
            self._tell("advice")
