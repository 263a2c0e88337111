"""The curve of a measure over the values of one knob, from kept evidence, and its plot. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import ceil, floor
from operator import itemgetter
from typing import Any, Literal

from kbx_tui.evaluation.judged_evidence import JudgedEvidence
from kbx_tui.evaluation.metrics import SIGNIFICANCE, bootstrap_band, randomisation_p
from kbx_tui.formatting import format_p, format_score
from kbx_tui.search.ranking.alpha import swap_points
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import MAX_ENTITIES_LIMIT, Tuning
from kbx_tui.tui.drawing.lines import Line, Look, Span

Value = float | int | str


@dataclass(frozen=True, slots=True)
class Tunable:
    name: str
    state_field: str
    tuning_field: str
    values: tuple[Value, ...]

    @property
    def is_continuous(self) -> bool:
        return isinstance(self.values[0], float)

    def with_value(self, tuning: Tuning, value: Value) -> Tuning:
        changes: dict[str, Any] = {self.tuning_field: value}
        return replace(tuning, **changes)

    def position(self, value: Value) -> float:
        if isinstance(value, str):
            return self.values.index(value) / (len(self.values) - 1)
        first, last = float(self.values[0]), float(self.values[-1])
        return min(max((value - first) / (last - first), 0.0), 1.0)

    def value_at(self, position: float) -> Value:
        if not self.is_continuous:
            return self.values[round(position * (len(self.values) - 1))]
        first, last = float(self.values[0]), float(self.values[-1])
        return round(first + position * (last - first), 2)

    def moved(self, value: Value, steps: int) -> Value:
        if isinstance(value, float):
            moved = round(value + steps / 100, 2)
            return min(max(moved, float(self.values[0])), float(self.values[-1]))
        direction = 1 if steps > 0 else -1
        place = self.values.index(value) + direction
        return self.values[min(max(place, 0), len(self.values) - 1)]

    def text(self, value: Value) -> str:
        return format_score(value) if isinstance(value, float) else str(value)


UNIT = tuple(step / 20 for step in range(21))

TUNABLES = (
    Tunable("alpha", "alpha", "alpha", UNIT),
    Tunable("threshold", "threshold", "entity_threshold", UNIT),
    Tunable(
        "entities kept", "max_entities", "max_entities", tuple(range(1, MAX_ENTITIES_LIMIT + 1))
    ),
    Tunable("gate", "gate", "gate", ("soft", "hard")),
    Tunable("parent score", "parent", "parent", ("coverage", "max")),
    Tunable("weight of openings", "hotness_weight", "hotness_weight", UNIT[:7]),
)


def tunables_for(tuning: Tuning) -> Sequence[Tunable]:
    """Return the knobs that can be moved; presets other than `default` fix gate and parent."""
    seed_has = () if tuning.preset == "default" else ("gate", "parent")
    return [one for one in TUNABLES if one.tuning_field not in seed_has]


Measure = Literal["ndcg", "judged"]
MEASURES: dict[Measure, str] = {"ndcg": "nDCG@10", "judged": "judged@10"}
LEAST_GAIN = 0.0005


@dataclass(frozen=True, slots=True)
class Curve:
    knob: Tunable
    measure: Measure
    tuning: Tuning
    means: tuple[float, ...]
    """Means, parallel to the values of the knob, as are the ends of the 95 % intervals."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    now: float
    now_low: float
    now_high: float

    @property
    def current(self) -> Value:
        value: Value = getattr(self.tuning, self.knob.tuning_field)
        return value

    @property
    def best(self) -> int:
        highest = max(self.means) - 1e-12
        here = self.knob.position(self.current)
        good = (place for place, mean in enumerate(self.means) if mean >= highest)
        values = self.knob.values
        return min(good, key=lambda place: abs(self.knob.position(values[place]) - here))

    @property
    def gain(self) -> float:
        return max(self.means[self.best] - self.now, 0.0)

    @property
    def has_gain(self) -> bool:
        return self.gain >= LEAST_GAIN


def curve_words(curve: Curve, p: float | None) -> str:
    """Return the curve in a sentence; `p` of the best value is None while unknown.

    For example: `alpha .50 now .71; best .62 .74 (+.03, p .21, may be chance)`.
    """
    name, text = curve.knob.name, curve.knob.text
    now = f"{name} {text(curve.current)} now {format_score(curve.now)}"
    if not curve.has_gain:
        return f"{now}; no other value is better"
    best = f"{text(curve.knob.values[curve.best])} {format_score(curve.means[curve.best])}"
    if curve.measure == "judged":
        return f"{now}; most {best}"
    gain = f"+{format_score(curve.gain)}" if curve.gain >= 0.005 else "less than +.01"
    if p is None:
        return f"{now}; best {best} ({gain})"
    advice = ", may be chance" if p > SIGNIFICANCE else ": see what optimising says"
    return f"{now}; best {best} ({gain}, p {format_p(p)}{advice})"


def y_range(curve: Curve) -> tuple[float, float]:
    low = min(max(floor(min(*curve.low, curve.now_low) * 20 + 1e-9) / 20, 0.0), 0.95)
    high = ceil(max(*curve.high, curve.now_high) * 20 - 1e-9) / 20
    return low, min(max(high, low + 0.05), 1.0)


DOTS_ACROSS, DOTS_DOWN = 2, 4
BLANK_BRAILLE = 0x2800
BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot in a cell, by row and column."""


class BrailleCanvas:
    """A grid of cells; the last dot drawn in a cell decides its look.

    Points are (x, y) in dots; (0, 0) is at the top left. Points outside are ignored.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._bits = [[0] * width for _ in range(height)]
        self._signs = [[""] * width for _ in range(height)]
        self._looks: list[list[Look]] = [["text"] * width for _ in range(height)]

    @property
    def dots(self) -> tuple[int, int]:
        return self.width * DOTS_ACROSS, self.height * DOTS_DOWN

    def dot(self, x: int, y: int, look: Look) -> None:
        if 0 <= x < self.dots[0] and 0 <= y < self.dots[1]:
            row, column = y // DOTS_DOWN, x // DOTS_ACROSS
            self._bits[row][column] |= BITS[y % DOTS_DOWN][x % DOTS_ACROSS]
            self._looks[row][column] = look

    def path(self, points: Sequence[tuple[int, int]], look: Look) -> None:
        for point in points[:1]:
            self.dot(*point, look)
        for (x0, y0), (x1, y1) in pairwise(points):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(1, steps + 1):
                share = step / steps
                self.dot(round(x0 + share * (x1 - x0)), round(y0 + share * (y1 - y0)), look)

    def sign(self, x: int, y: int, sign: str, look: Look) -> None:
        row, column = y // DOTS_DOWN, x // DOTS_ACROSS
        if 0 <= column < self.width and 0 <= row < self.height:
            self._signs[row][column], self._looks[row][column] = sign, look

    def rule(self, x: int, sign: str, look: Look) -> None:
        column = x // DOTS_ACROSS
        for row in range(self.height):
            if not (self._bits[row][column] or self._signs[row][column]):
                self._signs[row][column], self._looks[row][column] = sign, look

    def lines(self) -> list[Line]:
        lines: list[Line] = []
        for row in zip(self._signs, self._bits, self._looks, strict=True):
            cells = (
                (sign or (chr(BLANK_BRAILLE + bits) if bits else " "), look)
                for sign, bits, look in zip(*row, strict=True)
            )
            runs = groupby(cells, key=itemgetter(1))
            lines.append(tuple(Span("".join(cell for cell, _ in run), look) for look, run in runs))
        return lines


LABEL = 5
NOW, BEST = "●", "◆"
LABELS_EVERY = 4


def plot_position(cell: int, width: int) -> float:
    """Return the position, 0..1, of a cell in a line of a plot of `width` cells."""
    return min(max((cell - LABEL) / (max(width - LABEL, 2) - 1), 0.0), 1.0)


def plot_lines(curve: Curve, steps: Sequence[float], width: int, height: int) -> list[Line]:
    canvas, (low, high) = BrailleCanvas(max(width - LABEL, 2), max(height - 2, 1)), y_range(curve)
    across, down = (dots - 1 for dots in canvas.dots)

    def x(value: Value) -> int:
        return round(curve.knob.position(value) * across)

    def y(figure: float) -> int:
        return round((high - figure) / (high - low) * down)

    xs = list(map(x, curve.knob.values))
    for figures in (curve.low, curve.high):
        canvas.path([(x, y(end)) for x, end in zip(xs, figures, strict=True)], "rule")
    canvas.path([(x, y(mean)) for x, mean in zip(xs, curve.means, strict=True)], "document")
    if curve.has_gain:
        canvas.sign(xs[curve.best], y(curve.means[curve.best]), BEST, "entity")
    here = x(curve.current)
    canvas.sign(here, y(curve.now), NOW, "accent")
    canvas.rule(here, "┊", "rule")
    labels = [_y_label(row, canvas.height, low, high) for row in range(canvas.height)]
    lines = [(label, *line) for label, line in zip(labels, canvas.lines(), strict=True)]
    changing = {x(step) // DOTS_ACROSS for step in steps}
    axis = "".join("┴" if cell in changing else "─" for cell in range(canvas.width))
    texts = list(map(curve.knob.text, curve.knob.values))
    below = _x_labels(texts, [LABEL + dot // DOTS_ACROSS for dot in xs], canvas.width + LABEL)
    return [*lines, (Span("    └", "dim"), Span(axis, "rule")), (Span(below, "dim"),)]


def _y_label(row: int, rows: int, low: float, high: float) -> Span:
    if row not in (0, rows - 1) and (row % LABELS_EVERY or row > rows - 3):
        return Span("    │", "dim")
    figure = high - (high - low) * row / max(rows - 1, 1)
    return Span(f"{format_score(figure):>4}┤"[-LABEL:], "dim")


def _x_labels(texts: Sequence[str], middles: Sequence[int], width: int) -> str:
    """Return a line with those of the texts that fit, each around its cell in `middles`."""
    cells, last = " " * width, len(texts) - 1
    order = [0, last, *(place for place in range(1, last) if last < 8 or place % 5 == 0)]
    for text, middle in ((texts[place], middles[place]) for place in order):
        start = min(max(middle - len(text) // 2, 0), width - len(text))
        end = start + len(text)
        if not cells[max(start - 1, 0) : end + 1].strip():
            cells = cells[:start] + text + cells[end:]
    return cells


DEPTH = 10
"""Number of top results whose order counts for steps: as many as the measures use."""


def read_curve(kept: JudgedEvidence, knob: Tunable, measure: Measure, tuning: Tuning) -> Curve:
    """Return the curve of a knob, with all others as in `tuning`; `kept` must have a query."""
    settings = [*(knob.with_value(tuning, value) for value in knob.values), tuning]
    figures = getattr(kept.measure(settings), measure)
    *means, now = figures.mean(axis=1).tolist()
    (*low, now_low), (*high, now_high) = bootstrap_band(figures).T.tolist()
    ends = (now, now_low, now_high)
    return Curve(knob, measure, tuning, tuple(means), tuple(low), tuple(high), *ends)


def p_of_best(kept: JudgedEvidence, curve: Curve) -> float:
    best = curve.knob.with_value(curve.tuning, curve.knob.values[curve.best])
    figures = getattr(kept.measure([curve.tuning, best]), curve.measure)
    return randomisation_p(figures[0].tolist(), figures[1].tolist())


def steps_of_query(
    kept: JudgedEvidence, query: str, knob: Tunable, tuning: Tuning
) -> tuple[float, ...]:
    """Return the values at which the first 10 results of a query may change; () for most knobs."""
    texts = [each.text for each in kept.queries]
    if query not in texts:
        return ()
    evidence = kept.evidence[texts.index(query)]
    if knob.tuning_field == "alpha":
        return swap_points(rank(evidence, tuning), DEPTH)
    if knob.tuning_field == "entity_threshold":
        return tuple(sorted({entity.score for entity in evidence.entities if entity.score <= 1.0}))
    return ()
