"""The state of the tune mode: the curve, past queries, snapshots and advice.

Every figure comes from the evidence of the judged queries that `judging` keeps; none of the knobs
is measured by searching again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.tui.engine.client import EngineClient, LatestOnly, Status
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.search_state import knobs_of
from kbx_tui.tui.judging.live_measure import EvidenceKeeper
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.tune.curve import TUNABLES, Tunable, Value, tunables_for
from kbx_tui.tui.tune.past_queries import PastQueries, PastQueryReader
from kbx_tui.tui.tune.snapshots import SnapshotStore

if TYPE_CHECKING:
    from kbx_tui.evaluation.blind_preferences import Votes
    from kbx_tui.evaluation.optimise import Advice
    from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.tui.tune.curve import Curve, Measure


SETTLE_SECONDS = 0.2
"""Seconds without a change before p-values are computed, which takes longer than a curve."""


class TuneModel:
    """What the tune mode shows. It outlives the screen."""

    def __init__(
        self, client: EngineClient, status: Status, judging: JudgingModel, explore: ExploreModel
    ) -> None:
        self._client, self._status = client, status
        self.judging, self.explore = judging, explore
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self.knob: Tunable = TUNABLES[0]
        """The knob of the curve."""
        self.measure: Measure = "ndcg"
        self.query = ""
        """The judged query under the cursor."""
        self.curve: Curve | None = None
        """None without a judged query, for a fast search, and while queries are read."""
        self.p: float | None = None
        """p-value of the best value of the curve; None while it is not known."""
        self.steps: tuple[float, ...] = ()
        """Values at which the first results of `query` change."""
        self.votes: Votes | None = None
        """Preferences between A and the current settings; None while they are not counted."""
        self.past_queries = PastQueryReader(client, lambda: self.post(PastQueriesChanged()))
        self.snapshots = SnapshotStore(
            client, judging.evidence, lambda: self.post(SnapshotsChanged())
        )
        self.optimiser = Optimiser(client, judging.evidence, lambda: self.post(AdviceChanged()))
        self._settling = LatestOnly(client)
        self._version = 0
        """Counts the changes that the curve has to follow."""
        self._is_reading = False

    @property
    def tuning(self) -> Tuning | None:
        """The current knobs; None before kbx.toml is read, and for a fast search."""
        settings = self.explore.settings
        return None if settings is None or settings.is_fast else settings.tuning

    @property
    def past(self) -> PastQueries | None:
        """The past queries under the threshold of A and the current one."""
        pinned, tuning = self.judging.pinned, self.tuning
        if pinned is None or tuning is None:
            return None
        return self.past_queries.view(pinned.tuning.entity_threshold, tuning.entity_threshold)

    def open(self) -> None:
        """Read what the screen shows, which has been opened; others may have graded meanwhile."""
        if self.explore.is_searchable:
            self.judging.start()
        self.refresh()
        self._client.start(self.snapshots.load())

    def close(self) -> None:
        """Stop reading past queries; the screen is not shown any more."""
        self.past_queries.stop()

    def note_index_change(self) -> None:
        """Read the past queries again when they are shown: the index has new content."""
        self.past_queries.forget()

    # The curve.

    def refresh(self) -> None:
        """Follow a change of settings, grades, knob, measure or query."""
        if self.tuning is not None and self.knob not in tunables_for(self.tuning):
            self.knob = TUNABLES[0]
        self._version += 1
        self.votes = None
        self._settling.cancel()
        if not self._is_reading:
            self._is_reading = True
            self._client.start(self._read())
        self.post(PastQueriesChanged())

    def look_at(self, query: str) -> None:
        """Show the steps of this query, which the cursor is on now."""
        if query != self.query:
            self.query = query
            self.refresh()

    def next_knob(self) -> None:
        """Show the curve of the next knob."""
        knobs = tunables_for(self.tuning) if self.tuning is not None else TUNABLES
        self.knob = knobs[(list(knobs).index(self.knob) + 1) % len(knobs)]
        self.refresh()

    def next_measure(self) -> None:
        """Show the curve of the next measure."""
        self.measure = "judged" if self.measure == "ndcg" else "ndcg"
        self.refresh()

    def move(self, knob: Tunable, value: Value) -> None:
        """Give a knob another value; `MeasureChanged` follows."""
        self.explore.update(**{knob.state_field: value})

    def use(self, tuning: Tuning) -> None:
        """Make these knobs the current ones, as one change to undo."""
        self.explore.update(**knobs_of(tuning))

    async def _read(self) -> None:
        """Read the curve of the newest settings; those in between are passed over."""
        done = -1
        try:
            while done != self._version:
                done = self._version
                await self._read_curve()
                self.post(CurveChanged())
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
        """Compute what takes longer, once the settings have not changed for a moment."""
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
            self.post(CurveChanged())
        await self.snapshots.compare(tuning)
        pinned = self.judging.pinned
        if pinned is not None and not pinned.is_fast:
            self.votes = await self._client.run(
                lambda engine: engine.preferences.count(pinned.tuning, tuning)
            )
            self.post(CurveChanged())

    # Snapshots, advice and kbx.toml.

    def take_snapshot(self) -> None:
        """Store the current knobs."""
        if (tuning := self.tuning) is None:
            self._status.show_notice("a fast search has no knobs to keep")
        else:
            self._client.start(self._take_snapshot(tuning))

    async def _take_snapshot(self, tuning: Tuning) -> None:
        await self.snapshots.take(tuning)
        await self.snapshots.compare(tuning)

    def drop_snapshot(self, snapshot: TuningSnapshot) -> None:
        """Remove a snapshot; undo brings it back."""
        self._client.start(self._drop_snapshot(snapshot))

    async def _drop_snapshot(self, snapshot: TuningSnapshot) -> None:
        await self.snapshots.drop(snapshot)
        self.explore.remember(lambda: self._client.start(self._restore_snapshot(snapshot)))
        await self._compare_snapshots()

    async def _restore_snapshot(self, snapshot: TuningSnapshot) -> None:
        await self.snapshots.restore(snapshot)
        self._status.show_notice("the snapshot is back in the list")
        await self._compare_snapshots()

    async def _compare_snapshots(self) -> None:
        if (tuning := self.tuning) is not None:
            await self.snapshots.compare(tuning)


class _StoppedError(Exception):
    """The user stopped the search."""


class Optimiser:
    """The newest advice, and how far the search for it is."""

    def __init__(
        self, client: EngineClient, evidence: EvidenceKeeper, on_change: Callable[[], object]
    ) -> None:
        self._client, self._evidence, self._on_change = client, evidence, on_change
        self._running = LatestOnly(client)
        self._stopped = threading.Event()
        self.advice: Advice | None = None
        self.progress: tuple[int, int] | None = None
        """Number of coordinate searches done, and the total; None while none is running."""

    def start(self, tuning: Tuning) -> None:
        """Look for knobs that are better than `tuning`; stops an earlier search."""
        self.stop()
        self.progress = (0, 1)
        self._stopped = threading.Event()
        self._running.start(self._run(tuning, self._stopped))
        self._on_change()

    def stop(self) -> None:
        """Stop the search, if one is running, and drop its advice."""
        self._stopped.set()
        self._running.cancel()
        self.progress = self.advice = None
        self._on_change()

    async def _run(self, tuning: Tuning, stopped: threading.Event) -> None:
        def advise() -> Advice | None:
            from kbx_tui.evaluation import optimise

            kept = self._evidence.get(tuning.preset)
            return optimise.advise(kept, tuning, progress=tell) if kept else None

        def tell(done: int, total: int) -> None:
            if stopped.is_set():
                raise _StoppedError
            self._client.call_on_loop(self._show_progress, stopped, done, total)

        try:
            advice = await self._evidence.run(advise)
        except _StoppedError:
            return
        except Exception:
            self.stop()
            raise
        self.advice, self.progress = advice, None
        self._on_change()

    def _show_progress(self, stopped: threading.Event, done: int, total: int) -> None:
        if not stopped.is_set() and self.progress is not None:
            self.progress = done, total
            self._on_change()


class CurveChanged(Message):
    """There is another curve, or its p-value is known: `TuneModel.curve`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CurveChanged)


class PastQueriesChanged(Message):
    """More past queries were read, or other thresholds are compared: `TuneModel.past`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PastQueriesChanged)


class SnapshotsChanged(Message):
    """Snapshots were read, taken, dropped or compared: `TuneModel.snapshots`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SnapshotsChanged)


class AdviceChanged(Message):
    """Optimising has got further or ended: `TuneModel.optimiser`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AdviceChanged)
