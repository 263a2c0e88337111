"""The state of the tune mode: the curve, past queries, snapshots and advice.

All figures come from the evidence of the judged queries that `judging` keeps; measuring a knob
never searches again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from kbx_tui.evaluation.metrics import PairedDifference, holm, paired_difference
from kbx_tui.evaluation.optimise import Advice, advise
from kbx_tui.formatting import format_change, format_p
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, Status
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.judging.live_measure import SearchSettings
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.terminal_app import Newest
from kbx_tui.tui.tune.curve import (
    TUNABLES,
    Curve,
    Measure,
    Tunable,
    p_of_best,
    read_curve,
    steps_of_query,
    tunables_for,
)

if TYPE_CHECKING:
    from kbx_tui.evaluation.blind_preferences import Votes
    from kbx_tui.evaluation.judged_evidence import JudgedEvidence
    from kbx_tui.evaluation.judgments import TuningSnapshot
    from kbx_tui.evaluation.past_queries import ThresholdObservatory
    from kbx_tui.search.request import Tuning


SETTLE_SECONDS = 0.2


class _StoppedError(Exception):
    """Raised when the user has stopped the search for the best knobs."""


@dataclass
class TuneChanged(Newest):
    part: Literal["curve", "past", "snapshots", "advice"]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TuneChanged) and message.part == self.part


class TuneModel:
    """The state shown by the tune mode. It outlives the screen."""

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
        self.p: float | None = None
        self.steps: tuple[float, ...] = ()
        self.votes: Votes | None = None
        self.past_total: int | None = None
        self._observed: ThresholdObservatory | None = None
        self._observed_with: Tuning | None = None
        self._reading_past = LatestOnly(client)
        self._snapshots: tuple[TuningSnapshot, ...] = ()
        self._differences: tuple[PairedDifference | None, ...] = ()
        self.advice: Advice | None = None
        self.progress: tuple[int, int] | None = None
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
        if pinned is None or tuning is None or self._observed is None or not self.past_total:
            return None
        thresholds = (pinned.tuning.entity_threshold, tuning.entity_threshold)
        return PastQueries(self._observed, self.past_total, *thresholds)

    def open(self) -> None:
        if self.explore.is_searchable:
            self.judging.start()
        self.refresh()
        self._client.start(self._read_snapshots(compare=False))

    def close(self) -> None:
        self._reading_past.cancel()

    def note_index_change(self) -> None:
        self._reading_past.cancel()
        self._observed = None

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
            kept = self.judging.evidence.kept.get(tuning.preset)
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
        self._reading_past.start(self._read_past(replace(tuning, hierarchy=True)))
        if curve is not None and self.p is None:

            def compute() -> float | None:
                kept = self.judging.evidence.kept.get(tuning.preset)
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

    async def _read_past(self, tuning: Tuning) -> None:
        """Read new past queries, or all of them if knobs other than alpha have changed."""
        queries = await self._client.run(
            lambda engine: [past.query for past in engine.queries.asked()]
        )
        same = replace(tuning, alpha=0.5, entity_threshold=0.5)
        known = () if self._observed is None else (each.query for each in self._observed.queries)
        names = set(known)
        if same != self._observed_with or not names <= set(queries):
            self._observed, self._observed_with = None, same
            names = set()
        self.past_total = len(queries)
        self._tell("past")
        missing = [query for query in queries if query not in names]
        read = self._client.in_groups(
            missing, lambda engine, group: engine.tuner.observe_thresholds(group, tuning)
        )
        async for _, more in read:
            self._observed = joined(self._observed, more)
            self._tell("past")

    # Snapshots.

    @property
    def snapshots(self) -> tuple[SnapshotRow, ...]:
        return snapshot_rows(self._snapshots, self._differences, self.judging.pinned)

    async def take_snapshot(self) -> None:
        if (tuning := self.tuning) is None:
            self._status.show_notice("a fast search has no knobs to keep")
        else:
            await self._client.run(lambda engine: engine.tuner.take_snapshot(tuning))
            await self._read_snapshots()

    async def drop_snapshot(self, snapshot: TuningSnapshot) -> None:
        await self._client.run(lambda engine: engine.tuner.snapshots.remove(snapshot))
        self.explore.remember(lambda: self._client.start(self._restore_snapshot(snapshot)))
        await self._read_snapshots()

    async def _restore_snapshot(self, snapshot: TuningSnapshot) -> None:
        await self._client.run(lambda engine: engine.tuner.snapshots.add(snapshot))
        self._status.show_notice("the snapshot is back in the list")
        await self._read_snapshots()

    async def _read_snapshots(self, *, compare: bool = True) -> None:
        snapshots = await self._client.run(lambda engine: engine.tuner.snapshots.read())
        if snapshots != self._snapshots:
            self._snapshots, self._differences = snapshots, (None,) * len(snapshots)
        self._tell("snapshots")
        if compare:
            await self._compare_snapshots()

    async def _compare_snapshots(self) -> None:
        tuning, snapshots, evidence = self.tuning, self._snapshots, self.judging.evidence
        if tuning is None or not snapshots:
            return

        differences = await evidence.run(
            lambda: compare_snapshots(evidence.kept.get(tuning.preset), tuning, snapshots)
        )
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
        def compute() -> Advice | None:
            kept = self.judging.evidence.kept.get(tuning.preset)
            return advise(kept, tuning, progress=tell) if kept else None

        def tell(done: int, total: int) -> None:
            if stopped.is_set():
                raise _StoppedError
            self._client.call_on_loop(self._show_progress, stopped, done, total)

        try:
            advice = await self.judging.evidence.run(compute)
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


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    snapshot: TuningSnapshot
    settings: SearchSettings
    is_pinned: bool
    difference: PairedDifference | None
    """Difference in nDCG@10, current minus snapshot; None if it cannot be measured yet."""
    p_holm: float

    @property
    def when(self) -> str:
        return safe_line(self.snapshot.when)[:16].replace("T", " ")

    @property
    def comparison(self) -> str:
        found = self.difference
        if found is None:
            return "not measured"
        words = f"wins {found.wins}, ties {found.ties}, losses {found.losses}"
        if not found.wins and not found.losses:
            return f"{words}  the same results"
        between = ""
        if found.interval is not None:
            between = (
                f" ({format_change(found.interval[0], 2)} to {format_change(found.interval[1], 2)})"
            )
        return f"{words}  {format_change(found.mean, 2)}{between}  p {format_p(self.p_holm)}"


def compare_snapshots(
    kept: JudgedEvidence | None, current: Tuning, snapshots: Sequence[TuningSnapshot]
) -> tuple[PairedDifference | None, ...]:
    """Return how `current` differs from each snapshot; None if its preset is different."""
    same = [one.tuning for one in snapshots if one.tuning.preset == current.preset]
    if not kept or not same:
        return (None,) * len(snapshots)
    now, *before = kept.measure([current, *same]).ndcg.tolist()
    differences = iter([paired_difference(figures, now) for figures in before])
    return tuple(
        next(differences) if one.tuning.preset == current.preset else None for one in snapshots
    )


def snapshot_rows(
    snapshots: Sequence[TuningSnapshot],
    differences: Sequence[PairedDifference | None],
    pinned: SearchSettings | None,
) -> tuple[SnapshotRow, ...]:
    """Return a row per snapshot, newest first, with Holm-adjusted p-values."""
    adjusted = iter(holm([each.p for each in differences if each is not None]))
    rows = [
        SnapshotRow(
            snapshot,
            settings := SearchSettings(snapshot.tuning),
            settings == pinned,
            difference,
            next(adjusted) if difference is not None else 1.0,
        )
        for snapshot, difference in zip(snapshots, differences, strict=True)
    ]
    return tuple(reversed(rows))


@dataclass(frozen=True, slots=True)
class PastQueries:
    observed: ThresholdObservatory
    total: int
    pinned: float
    current: float


def joined(one: ThresholdObservatory | None, more: ThresholdObservatory) -> ThresholdObservatory:
    if one is None:
        return more
    return replace(
        more,
        queries=(*one.queries, *more.queries),
        histogram=tuple(a + b for a, b in zip(one.histogram, more.histogram, strict=True)),
    )
