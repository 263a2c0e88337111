"""What the current settings are worth on the judged queries, beside A. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.formatting import format_count, format_percent, format_score
from kbx_tui.tui.judging.search_settings import SearchSettings

EQUAL = 1e-12
"""As in `evaluation.significance`, which needs numpy."""


@dataclass(frozen=True, slots=True)
class LiveMeasure:
    """nDCG@10 of each judged query under A and under the current settings."""

    pinned: SearchSettings
    current: SearchSettings
    queries: tuple[JudgedQuery, ...]
    """Those that have a relevant document; at least one."""
    start: tuple[float, ...]
    """Under A, 0..1; parallel to `queries`, as are the next two."""
    now: tuple[float, ...]
    """Under the current settings."""
    judged: tuple[float, ...]
    """judged@10 under the current settings, 0..1."""
    left_out: int
    """Number of judged queries for which there was no memory."""

    @property
    def better(self) -> int:
        """Number of queries that the current settings answer better than A."""
        return sum(now > start + EQUAL for start, now in zip(self.start, self.now, strict=True))

    @property
    def worse(self) -> int:
        """Number of queries that the current settings answer worse than A."""
        return sum(now < start - EQUAL for start, now in zip(self.start, self.now, strict=True))


def measure_candidates(measure: LiveMeasure) -> tuple[str, ...]:
    """Return the measure in words, the longest wording first."""
    now, start = format_score(fmean(measure.now)), format_score(fmean(measure.start))
    judged = format_percent(fmean(measure.judged))
    count = format_count(len(measure.queries), "judged query")
    left_out = f", no memory for {measure.left_out:,} more" if measure.left_out else ""
    if measure.current == measure.pinned:
        return (
            f"nDCG@10 {now} over {count}{left_out}, judged@10 {judged}",
            f"nDCG@10 {now}, judged@10 {judged}",
        )
    changes = f"{measure.better} better, {measure.worse} worse"
    return (
        f"nDCG@10 {now} (start {start}), {changes} of {count}{left_out}, judged@10 {judged}",
        f"nDCG@10 {now} (start {start}), {changes}, judged@10 {judged}",
        f"nDCG {now} (start {start}), {changes}, {judged}",
        f"nDCG {now} ({start}), {changes}",
    )
