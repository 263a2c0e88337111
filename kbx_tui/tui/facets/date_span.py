"""The strip of dates: a bar per month or year, and a span of them to select. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from kbx_tui.formatting import format_count

BARS = " ▁▂▃▄▅▆▇█"
MONTHS = 60
"""More months than these are shown as years."""
WIDEST = 6
"""Cells of a time in a short strip."""


@dataclass(frozen=True, slots=True)
class DateStrip:
    """Times with the number of results in each, and the span that is selected, if any."""

    times: tuple[tuple[str, int], ...] = ()
    """`2026-03` or `2026`, without gaps, and the number of results."""
    start: int | None = None
    end: int = 0
    """The last time of the span, at or after `start`."""
    width: int = MONTHS
    """Cells for all of it."""

    @classmethod
    def of(cls, months: Sequence[tuple[str, int]], width: int = MONTHS) -> Self:
        """Return a strip of months, or of years where these are more than `width` cells.

        `months` are those with a result, in order. Of more years than fit, those are shown that
        hold the most results: a single wrong date may be centuries away.
        """
        width = max(min(width, MONTHS), 1)
        by_month = {12 * int(month[:4]) + int(month[5:7]) - 1: count for month, count in months}
        if not months or max(by_month) - min(by_month) < width:
            filled = _without_gaps(by_month)
            return cls(tuple((f"{n // 12:04}-{n % 12 + 1:02}", c) for n, c in filled), width=width)
        years: Counter[int] = Counter()
        for month, count in by_month.items():
            years[month // 12] += count
        filled = _without_gaps(_fullest(years, width))
        return cls(tuple((f"{year:04}", count) for year, count in filled), width=width)

    @property
    def span(self) -> tuple[str, str] | None:
        """The first and last time that are selected."""
        if self.start is None or not self.times:
            return None
        return self.times[self.start][0], self.times[self.end][0]

    @property
    def cells(self) -> int:
        """Cells of one time: a short strip is drawn wider, to be read and clicked."""
        return max(1, min(WIDEST, self.width // max(len(self.times), 1)))

    @property
    def bars(self) -> str:
        """The bars, `cells` for each time; a time with any result has one."""
        most = max((count for _, count in self.times), default=1) or 1
        top = len(BARS) - 1
        return "".join(BARS[-(-count * top // most)] * self.cells for _, count in self.times)

    @property
    def words(self) -> str:
        """The span and how many results it has: `2026-01 to 2026-03, 12 results`."""
        if self.span is None or self.start is None:
            return ""
        first, last = self.span
        count = sum(count for _, count in self.times[self.start : self.end + 1])
        name = first if first == last else f"{first} to {last}"
        return f"{name}, {format_count(count, 'result')}"

    def moved(self, steps: int) -> Self:
        """Select one time, the last at first, then the one `steps` after that selected."""
        if not self.times:
            return self
        last = len(self.times) - 1
        at = last if self.start is None else max(0, min(self.start + steps, last))
        return replace(self, start=at, end=at)

    def extended(self, steps: int) -> Self:
        """Move the end of the span, not before its start."""
        if self.start is None:
            return self.moved(steps)
        return replace(self, end=max(self.start, min(self.end + steps, len(self.times) - 1)))

    def between(self, one: int, other: int) -> Self:
        """Select the times from one to another, in either order."""
        last = len(self.times) - 1
        start, end = sorted(max(0, min(at, last)) for at in (one, other))
        return replace(self, start=start, end=end) if self.times else self


def _fullest(counts: Mapping[int, int], width: int) -> dict[int, int]:
    """Return the counts within `width` numbers that are the most together; of equals, the last."""
    spans = (
        {number: count for number, count in counts.items() if first <= number < first + width}
        for first in sorted(counts, reverse=True)
    )
    return max(spans, key=lambda span: sum(span.values()))


def _without_gaps(counts: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield all numbers from the first to the last, and their counts."""
    if counts:
        yield from ((n, counts.get(n, 0)) for n in range(min(counts), max(counts) + 1))
