"""What the entity threshold does with the queries asked in the app, as far as they are read. Pure.

They are read in small groups, so that searches are answered in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.engine.client import EngineClient, LatestOnly

if TYPE_CHECKING:
    from kbx_tui.evaluation.past_queries import AskedQuery, Outcome, ThresholdObservatory
    from kbx_tui.search.request import Tuning


BLOCKS = " ▁▂▃▄▅▆▇█"
BAR_HEIGHT = 3
OUTCOMES: dict[Outcome, str] = {"two_pass": "two-pass", "flat": "flat", "nothing": "nothing"}


@dataclass(frozen=True, slots=True)
class PastQueries:
    observed: ThresholdObservatory
    total: int
    pinned: float
    current: float


def joined(one: ThresholdObservatory | None, more: ThresholdObservatory) -> ThresholdObservatory:
    """Return the observations of two disjoint groups of queries as one."""
    if one is None:
        return more
    return replace(
        more,
        queries=(*one.queries, *more.queries),
        histogram=tuple(a + b for a, b in zip(one.histogram, more.histogram, strict=True)),
    )


def past_query_lines(past: PastQueries, width: int) -> list[Line]:
    observed, count = past.observed, len(past.observed.queries)
    read = f"{count:,} of {past.total:,}" if count < past.total else f"{count:,}"
    queries = "past query" if past.total == 1 else "past queries"
    lines = histogram_lines(observed.histogram, past.current, width)
    lines.append((Span(shorten(f" best entity scores of {read} {queries}", width), "dim"),))
    now = outcome_words(observed, past.current)
    lines.append((Span(f" threshold {format_score(past.current)}  ", "strong"), Span(now)))
    if past.pinned == past.current:
        return lines
    lines.append(
        (
            Span(f" A         {format_score(past.pinned)}  ", "dim"),
            Span(outcome_words(observed, past.pinned), "dim"),
        )
    )
    flips = observed.flips(past.pinned, past.current)
    if not flips:
        return [*lines, (Span(" no query changes between the two", "dim"),)]
    change = "changes" if len(flips) == 1 else "change"
    title = f" {format_count(len(flips), 'query')} {change}:"
    return [*lines, (Span(title),), *(_flip_line(query, past, width) for query in flips)]


def histogram_lines(histogram: Sequence[int], threshold: float, width: int) -> list[Line]:
    room, most = max(width - 2, 1), max(*histogram, 1)
    line = min(int(threshold * room), room - 1)
    lines: list[Line] = []
    for row in reversed(range(BAR_HEIGHT)):
        cells = []
        for cell in range(room):
            count = histogram[min(cell * len(histogram) // room, len(histogram) - 1)]
            eighths = -(-count * BAR_HEIGHT * 8 // most) - row * 8
            cells.append(BLOCKS[min(max(eighths, 0), 8)])
        text = "".join(cells)
        spans = (Span(text[:line], "rule"), Span("│", "accent"), Span(text[line + 1 :], "entity"))
        lines.append((Span(" "), *spans))
    scale = f"0{'.5':>{room // 2 - 1}}{'1':>{room - room // 2}}"
    return [*lines, (Span(f" {fit(scale, room)}", "dim"),)]


def outcome_words(observed: ThresholdObservatory, threshold: float) -> str:
    """Return `7 two-pass, 4 flat, 1 nothing` for the nearest threshold observed."""
    place = _place(observed, threshold)
    counts = [query.outcomes[place] for query in observed.queries]
    parts = [f"{counts.count(outcome):,} {name}" for outcome, name in OUTCOMES.items()]
    return ", ".join(parts if "nothing" in counts else parts[:2])


def _flip_line(query: AskedQuery, past: PastQueries, width: int) -> Line:
    before, after = (
        OUTCOMES[query.outcomes[_place(past.observed, threshold)]]
        for threshold in (past.pinned, past.current)
    )
    change = f"{before} → {after}"
    text = fit(safe_line(query.query), max(width - len(change) - 6, 1))
    return (Span(f"   {text}  "), Span(change, "accent"))


def _place(observed: ThresholdObservatory, threshold: float) -> int:
    distances = [abs(each - threshold) for each in observed.thresholds]
    return distances.index(min(distances))


class PastQueryReader:
    def __init__(self, client: EngineClient, on_change: Callable[[], object]) -> None:
        self._client, self._on_change = client, on_change
        self._reading = LatestOnly(client)
        self._observed: ThresholdObservatory | None = None
        self._observed_with: Tuning | None = None
        self.total: int | None = None

    def read(self, tuning: Tuning) -> None:
        """Read the past queries that are new; all of them if other knobs than alpha changed."""
        self._reading.start(self._read(replace(tuning, hierarchy=True)))

    def stop(self) -> None:
        self._reading.cancel()

    def forget(self) -> None:
        """Read all queries again next time: the index has changed."""
        self.stop()
        self._observed = None

    def view(self, pinned: float, current: float) -> PastQueries | None:
        if self._observed is None or not self.total:
            return None
        return PastQueries(self._observed, self.total, pinned, current)

    async def _read(self, tuning: Tuning) -> None:
        queries = await self._client.run(
            lambda engine: [past.query for past in engine.queries.asked()]
        )
        same = replace(tuning, alpha=0.5, entity_threshold=0.5)
        known = () if self._observed is None else (each.query for each in self._observed.queries)
        names = set(known)
        if same != self._observed_with or not names <= set(queries):
            self._observed, self._observed_with = None, same
            names = set()
        self.total = len(queries)
        self._on_change()
        missing = [query for query in queries if query not in names]
        read = self._client.in_groups(
            missing, lambda engine, group: engine.tuner.observe_thresholds(group, tuning)
        )
        async for _, more in read:
            self._observed = joined(self._observed, more)
            self._on_change()
