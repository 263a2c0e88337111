"""The snapshots of the open base, and how the current settings differ from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.judging.evidence_keeper import EvidenceKeeper
from kbx_tui.tui.judging.search_settings import SearchSettings
from kbx_tui.tui.tune.snapshots.snapshot_view import SnapshotRow, compare_snapshots, snapshot_rows

if TYPE_CHECKING:
    from kbx_tui.evaluation.significance import PairedDifference
    from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot
    from kbx_tui.search.evidence.tuning import Tuning


class SnapshotStore:
    """Snapshots, read from disk and compared on the measuring thread."""

    def __init__(
        self, client: EngineClient, evidence: EvidenceKeeper, on_change: Callable[[], object]
    ) -> None:
        self._client, self._evidence, self._on_change = client, evidence, on_change
        self.snapshots: tuple[TuningSnapshot, ...] = ()
        self._differences: tuple[PairedDifference | None, ...] = ()

    def rows(self, pinned: SearchSettings | None) -> tuple[SnapshotRow, ...]:
        """Return a row per snapshot, the newest first."""
        return snapshot_rows(self.snapshots, self._differences, pinned)

    async def load(self) -> None:
        """Read the snapshots."""
        self._set(await self._client.run(lambda engine: engine.tuning_snapshots()))

    async def take(self, tuning: Tuning) -> None:
        """Store these knobs. Raises WriteFault."""
        await self._client.run(lambda engine: engine.take_tuning_snapshot(tuning))
        await self.load()

    async def drop(self, snapshot: TuningSnapshot) -> None:
        """Remove a snapshot. Raises WriteFault."""
        await self._client.run(lambda engine: engine.remove_tuning_snapshot(snapshot))
        await self.load()

    async def restore(self, snapshot: TuningSnapshot) -> None:
        """Store a removed snapshot again. Raises WriteFault."""
        await self._client.run(lambda engine: engine.restore_tuning_snapshot(snapshot))
        await self.load()

    async def compare(self, tuning: Tuning) -> None:
        """Compare these knobs, which are current, with all snapshots."""

        def compare() -> tuple[PairedDifference | None, ...]:
            return compare_snapshots(self._evidence.get(tuning.preset), tuning, snapshots)

        snapshots = self.snapshots
        if snapshots:
            differences = await self._evidence.run(compare)
            if snapshots == self.snapshots:
                self._differences = differences
                self._on_change()

    def _set(self, snapshots: tuple[TuningSnapshot, ...]) -> None:
        if snapshots != self.snapshots:
            self.snapshots, self._differences = snapshots, (None,) * len(snapshots)
        self._on_change()
