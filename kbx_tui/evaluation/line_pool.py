"""The score lines of many judged queries in a few arrays, to rank them together. Pure.

Lines are padded to a width of 16, 32, 64 ... documents, and those of one width are one array: so
hundreds of queries are ranked under an alpha each in a few array operations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.evaluation.judgments import Grades
from kbx_tui.evaluation.metrics import CUTOFF
from kbx_tui.search.evidence.evidence import Flags, Scores
from kbx_tui.search.ranking.score_lines import NO_RESULT, ScoreLines

NARROWEST = 16
AT_ONCE = 2048
"""How many rankings are computed at a time: few enough for their arrays to stay in the cache."""
FIELDS = 7
ANSWERED, PARENT, OPENED, KNOWN_ITEM, ALWAYS, GAIN, JUDGED = range(FIELDS)
DISCOUNTS = np.log2(np.arange(2, CUTOFF + 2))

Slots = NDArray[np.int64]
"""Numbers of lines in the pool."""


@dataclass(frozen=True, slots=True)
class TopTen:
    """What the first 10 results of some rankings are worth; arrays have shape (m,)."""

    gain: Scores
    """Discounted cumulative gain, gain `2^grade - 1`."""
    judged: Scores
    """How many of the first 10 are judged."""
    found: Scores
    """How many results there are, up to 10."""


class LinePool:
    """Score lines by number, in order of addition."""

    def __init__(self) -> None:
        self._width: list[int] = []
        self._position: list[int] = []
        self._tables: defaultdict[int, list[Scores]] = defaultdict(list)
        self._factors: list[float] = []
        self._is_flat: list[bool] = []
        self._stacked: dict[int, Scores] = {}

    def __len__(self) -> int:
        return len(self._width)

    @property
    def bytes(self) -> int:
        """Bytes that the lines take, as pieces and stacked."""
        return sum(2 * 8 * FIELDS * width for width in self._width)

    def add(self, lines: ScoreLines, paths: Sequence[str], grades: Grades) -> int:
        """Add the lines of a query and return their number; `paths` are those of its Evidence."""
        width = NARROWEST
        while width < len(lines):
            width *= 2
        table = np.zeros((FIELDS, width))
        table[ANSWERED, : len(lines)] = lines.answered
        table[PARENT, : len(lines)] = lines.parent
        table[OPENED, : len(lines)] = lines.opened
        table[KNOWN_ITEM, : len(lines)] = lines.is_known_item
        table[ALWAYS, : len(lines)] = lines.is_always_result
        for place, row in enumerate(lines.rows.tolist()):
            grade = grades.get(paths[row])
            if grade is not None:
                table[GAIN, place], table[JUDGED, place] = 2.0**grade - 1.0, 1.0
        self._position.append(len(self._tables[width]))
        self._tables[width].append(table)
        self._stacked.pop(width, None)
        self._width.append(width)
        self._factors.append(lines.factor)
        self._is_flat.append(lines.is_flat)
        return len(self._width) - 1

    def top_ten(self, slots: Slots, alphas: Scores) -> TopTen:
        """Return the worth of the first 10 results of lines under alphas; both of shape (m,)."""
        gain, judged, found = (np.zeros(len(slots)) for _ in range(3))
        widths = np.array(self._width)[slots]
        positions, factors = np.array(self._position)[slots], np.array(self._factors)[slots]
        alphas = np.where(np.array(self._is_flat)[slots], 1.0, alphas)
        for width in np.unique(widths).tolist():
            numbers = np.flatnonzero(widths == width)
            tables = self._table(width)
            for start in range(0, len(numbers), AT_ONCE):
                some = numbers[start : start + AT_ONCE]
                batch = tables[positions[some]]
                final = _final(batch, factors[some], alphas[some])
                gain[some], judged[some], found[some] = _first_ten(final, batch)
        return TopTen(gain, judged, found)

    def _table(self, width: int) -> Scores:
        if width not in self._stacked:
            self._stacked[width] = np.stack(self._tables[width])
        return self._stacked[width]


def _final(tables: Scores, factors: Scores, alphas: Scores) -> Scores:
    """Return the final scores as `ScoreLines.final` does, of one alpha per table; shape (m, n)."""
    alpha = alphas[:, None]
    blended = alpha * tables[:, ANSWERED] + (1.0 - alpha) * tables[:, PARENT]
    final = factors[:, None] * blended + tables[:, OPENED]
    final[tables[:, KNOWN_ITEM] > 0.0] = 1.0
    is_result: Flags = (blended > 0.0) | (tables[:, ALWAYS] > 0.0)
    final[~is_result] = NO_RESULT
    return final


def _first_ten(final: Scores, tables: Scores) -> tuple[Scores, Scores, Scores]:
    """Return gain, number judged and number of the first 10 results; changes `final`.

    Taking the highest ten times is faster than sorting, and takes the first of those that tie.
    """
    numbers = np.arange(len(final))
    gain, judged, found = (np.zeros(len(final)) for _ in range(3))
    for discount in DISCOUNTS.tolist():
        best = np.argmax(final, axis=1)
        is_result = final[numbers, best] > NO_RESULT
        gain += np.where(is_result, tables[numbers, GAIN, best], 0.0) / discount
        judged += np.where(is_result, tables[numbers, JUDGED, best], 0.0)
        found += is_result
        final[numbers, best] = NO_RESULT
    return gain, judged, found
