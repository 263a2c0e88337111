"""The settings of a search, and their quality on the judged queries compared with A.

It is measured on kept Evidence: no query is searched again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.formatting import format_count, format_percent, format_score
from kbx_tui.search.request import Preset, SearchRequest, Tuning
from kbx_tui.tui.engine.client import EngineClient

if TYPE_CHECKING:
    from kbx_tui.evaluation.judged_evidence import JudgedEvidence
    from kbx_tui.search.evidence.evidence import Evidence


EQUAL = 1e-12
"""Largest difference that counts as equal; as in `evaluation.metrics`, which needs numpy."""
LIMIT = 256 * 1024 * 1024
"""Maximum bytes of Evidence per preset; A and the current settings may have different ones."""
PAUSE_SECONDS = 0.005
"""Pause between two background searches, for the event loop and for the user's own searches."""
REPORT_FROM = 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Knobs, and whether the search is by words only; nothing specific to one query."""

    tuning: Tuning
    """The knobs, without muted and pinned entities."""
    is_fast: bool = False

    def words(self) -> str:
        if self.is_fast:
            return "fast"
        if not self.tuning.hierarchy:
            return "flat"
        seed = ", ranking of the seed" if self.tuning.preset == "seed" else ""
        alpha, threshold = format_score(self.tuning.alpha), self.tuning.entity_threshold
        others = "".join(f", {words}" for words in self._other_knobs())
        return f"two-pass, alpha {alpha}, threshold {format_score(threshold)}{seed}{others}"

    def _other_knobs(self) -> Iterator[str]:
        usual = Tuning.seed() if self.tuning.preset == "seed" else Tuning()
        if self.tuning.max_entities != usual.max_entities:
            yield f"{self.tuning.max_entities} entities kept"
        if self.tuning.gate != usual.gate:
            yield f"{self.tuning.gate} gate"
        if self.tuning.parent != usual.parent:
            yield f"parent score {self.tuning.parent}"
        if self.tuning.hotness_weight != usual.hotness_weight:
            yield f"openings {format_score(self.tuning.hotness_weight)}"


@dataclass(frozen=True, slots=True)
class LiveMeasure:
    pinned: SearchSettings
    current: SearchSettings
    queries: tuple[JudgedQuery, ...]
    start: tuple[float, ...]
    """nDCG@10 under A, 0..1; parallel to `queries`, as are `now` and `judged`."""
    now: tuple[float, ...]
    judged: tuple[float, ...]
    """judged@10 under the current settings, 0..1."""
    left_out: int

    @property
    def better(self) -> int:
        return sum(now > start + EQUAL for start, now in zip(self.start, self.now, strict=True))

    @property
    def worse(self) -> int:
        return sum(now < start - EQUAL for start, now in zip(self.start, self.now, strict=True))

    @property
    def warning(self) -> tuple[str, ...]:
        """Return a sentence if the current settings answer the judged queries worse than A."""
        start, now = map(format_score, map(fmean, (self.start, self.now)))
        count = format_count(len(self.queries), "judged query")
        worse = (
            f"On {count} of this base whose right answers are known, these settings do worse than A"
            f" (what is saved, unless you pinned others): nDCG@10 {now} instead of {start}."
        )
        return (worse,) if now < start else ()


def measure_candidates(measure: LiveMeasure) -> tuple[str, ...]:
    now, start = format_score(fmean(measure.now)), format_score(fmean(measure.start))
    judged = format_percent(fmean(measure.judged))
    count = format_count(len(measure.queries), "judged query")
    left_out = f", no memory for {measure.left_out:,} more" if measure.left_out else ""
    if measure.current == measure.pinned:
        return (
            f"quality {now} (nDCG@10) over {count}{left_out}, {judged} of the first ten graded",
            f"quality {now} (nDCG@10), {judged} graded",
        )
    changes = f"{measure.better} better, {measure.worse} worse"
    return (
        f"quality {now} (start {start}, nDCG@10), {changes} of {count}{left_out},"
        f" {judged} of the first ten graded",
        f"quality {now} (start {start}), {changes}, {judged} graded",
        f"quality {now} (start {start}), {changes}",
        f"quality {now} ({start}), {changes}",
    )


class EvidenceKeeper:
    """Keeps the Evidence of the judged queries, by preset.

    It is read query by query, so that a search by the user waits for at most one of them. Only the
    measuring thread uses it.
    """

    def __init__(self, client: EngineClient, on_progress: Callable[[str], object]) -> None:
        self._client, self._on_progress = client, on_progress
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kbx-measure")
        self.kept: dict[Preset, JudgedEvidence] = {}

    async def run(self, call: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._pool.submit(call))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def read(self, tuning: Tuning, queries: Sequence[JudgedQuery], *, check: bool) -> None:
        """Read what is missing for a preset; with `check`, all of it if the index has changed."""
        measurable = [query for query in queries if query.is_measurable]
        kept = self.kept.get(tuning.preset)
        if measurable and (kept is None or check):
            generation = (await self._retrieve(measurable[0], tuning.preset)).generation
            if kept is None or kept.generation != generation:
                from kbx_tui.evaluation.judged_evidence import JudgedEvidence

                kept = self.kept[tuning.preset] = JudgedEvidence(generation)
        if kept is None:
            return
        missing = await self.run(partial(kept.regrade, measurable, tuning))
        if not await self._add(kept, missing, tuning):
            await self.read(tuning, queries, check=True)

    async def _add(
        self, kept: JudgedEvidence, missing: Sequence[JudgedQuery], tuning: Tuning
    ) -> bool:
        total = len(missing)
        try:
            for number, query in enumerate(missing):
                kept.left_out = total - number
                if kept.bytes >= LIMIT:
                    return True
                if total >= REPORT_FROM:
                    self._on_progress(f"reading judged queries, {number:,} of {total:,}")
                evidence = await self._retrieve(query, tuning.preset)
                if evidence.generation != kept.generation:
                    return False
                await self.run(partial(kept.add, query, evidence, tuning))
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            if total >= REPORT_FROM:
                self._on_progress("")
        kept.left_out = 0
        return True

    async def measure(self, pinned: SearchSettings, current: SearchSettings) -> LiveMeasure | None:
        """Return the measures of two settings; None without judged queries or for a fast search."""
        before, after = self.kept.get(pinned.tuning.preset), self.kept.get(current.tuning.preset)
        if not before or not after or pinned.is_fast or current.is_fast:
            return None
        return await self.run(lambda: _measure(before, after, pinned, current))

    async def _retrieve(self, query: JudgedQuery, preset: Preset) -> Evidence:
        request = SearchRequest(query.text, preset=preset)
        return await self._client.run(lambda engine: engine.retrieve(request))


def _measure(
    before: JudgedEvidence, after: JudgedEvidence, pinned: SearchSettings, current: SearchSettings
) -> LiveMeasure | None:
    if before is after:
        both = before.measure([pinned.tuning, current.tuning])
        start, now, judged = both.ndcg[0], both.ndcg[1], both.judged[1]
    else:
        start = before.measure([pinned.tuning]).ndcg[0]
        alone = after.measure([current.tuning])
        now, judged = alone.ndcg[0], alone.judged[0]
    known = {query.text: value for query, value in zip(before.queries, start.tolist(), strict=True)}
    rows = [number for number, query in enumerate(after.queries) if query.text in known]
    if not rows:
        return None
    queries = tuple(after.queries[row] for row in rows)
    return LiveMeasure(
        pinned,
        current,
        queries,
        tuple(known[query.text] for query in queries),
        tuple(now[rows].tolist()),
        tuple(judged[rows].tolist()),
        max(before.left_out, after.left_out),
    )
