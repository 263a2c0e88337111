"""Snapshots of the knobs, and how the current settings differ from them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_change, format_p
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.judging.live_measure import SearchSettings

if TYPE_CHECKING:
    from kbx_tui.evaluation.judged_evidence import JudgedEvidence
    from kbx_tui.evaluation.judgments import TuningSnapshot
    from kbx_tui.evaluation.metrics import PairedDifference
    from kbx_tui.search.request import Tuning


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    snapshot: TuningSnapshot
    settings: SearchSettings
    is_pinned: bool
    difference: PairedDifference | None
    """Of nDCG@10, current minus snapshot; None if it cannot be measured yet."""
    p_holm: float

    @property
    def when(self) -> str:
        return safe_line(self.snapshot.when)[:16].replace("T", " ")

    @property
    def comparison(self) -> str:
        """The difference in words: `wins 3, ties 7, losses 2  +.02 (-.01 to .05)  p .210`."""
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
    """Return how `current` differs from each snapshot; None for one of another preset.

    Measured from the evidence kept, which is that of the preset of `current`.
    """
    from kbx_tui.evaluation.metrics import paired_difference

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
    """Return a row per snapshot, the newest first, with p-values adjusted by Holm."""
    from kbx_tui.evaluation.metrics import holm

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
