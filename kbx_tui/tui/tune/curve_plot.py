"""The plot of a curve: interval band, current and best value, steps, axes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbx_tui.formatting import format_score
from kbx_tui.tui.drawing.braille import DOTS_ACROSS, DOTS_DOWN, BrailleCanvas
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.tune.curve import Curve, y_range

LABEL = 5
"""Cells of the labels of the y axis."""
NOW, BEST = "●", "◆"
LABELS_EVERY = 4
"""Lines from one label of the y axis to the next."""


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The cells of the curve, right of the labels."""

    width: int
    height: int

    def x(self, position: float) -> int:
        """Return the dot at a position of 0..1."""
        return round(position * (self.width * DOTS_ACROSS - 1))

    def position(self, cell: int) -> float:
        """Return the position of 0..1 at a cell, counted from the left of the plot."""
        return min(max((cell - LABEL) / max(self.width - 1, 1), 0.0), 1.0)


def plot_area(width: int, height: int) -> PlotArea:
    """Return the area of the curve in a plot of `width` x `height` cells with its x axis."""
    return PlotArea(max(width - LABEL, 2), max(height - 2, 1))


def plot_lines(curve: Curve, steps: Sequence[float], width: int, height: int) -> list[Line]:
    """Return the lines of a plot of exactly `height` lines, at most `width` cells wide."""
    area, (low, high) = plot_area(width, height), y_range(curve)
    canvas, tall = BrailleCanvas(area.width, area.height), area.height * DOTS_DOWN - 1

    def y(figure: float) -> int:
        return round((high - figure) / (high - low) * tall)

    xs = [area.x(curve.knob.position(value)) for value in curve.values]
    _draw_band(canvas, xs, [y(each) for each in curve.high], [y(each) for each in curve.low])
    canvas.path([(x, y(mean)) for x, mean in zip(xs, curve.means, strict=True)], "document")
    if curve.has_gain:
        canvas.sign(xs[curve.best], y(curve.means[curve.best]), BEST, "entity")
    here = area.x(curve.knob.position(curve.current))
    canvas.sign(here, y(curve.now), NOW, "accent")
    canvas.rule(here, "┊", "rule")
    labels = [_y_label(row, area.height, low, high) for row in range(area.height)]
    lines = [(label, *line) for label, line in zip(labels, canvas.lines(), strict=True)]
    return [*lines, _axis(area, steps, curve), _x_labels(area, curve)]


def _draw_band(
    canvas: BrailleCanvas, xs: Sequence[int], tops: Sequence[int], bottoms: Sequence[int]
) -> None:
    """Draw the interval as sparse dots between its ends."""
    for place in range(len(xs) - 1):
        start, end = xs[place], xs[place + 1]
        for x in range(start, end + 1):
            share = (x - start) / max(end - start, 1)
            top = round(tops[place] + share * (tops[place + 1] - tops[place]))
            bottom = round(bottoms[place] + share * (bottoms[place + 1] - bottoms[place]))
            for dot in range(top, bottom + 1):
                if x % 2 == 0 and dot % 4 == (x // 2 % 2) * 2:
                    canvas.dot(x, dot, "rule")


def _y_label(row: int, rows: int, low: float, high: float) -> Span:
    if row not in (0, rows - 1) and (row % LABELS_EVERY or row > rows - 3):
        return Span("    │", "dim")
    figure = high - (high - low) * row / max(rows - 1, 1)
    return Span(f"{format_score(figure):>4}┤"[-LABEL:], "dim")


def _axis(area: PlotArea, steps: Sequence[float], curve: Curve) -> Line:
    cells = {area.x(curve.knob.position(step)) // DOTS_ACROSS for step in steps}
    line = "".join("┴" if cell in cells else "─" for cell in range(area.width))
    return (Span("    └", "dim"), Span(line, "rule"))


def _x_labels(area: PlotArea, curve: Curve) -> Line:
    """Return values below their places, as many as fit without touching."""
    cells = [" "] * (area.width + LABEL)
    last = len(curve.values) - 1
    order = [0, last, *(place for place in range(1, last) if last < 8 or place % 5 == 0)]
    taken: list[tuple[int, int]] = []
    for place in order:
        text = curve.knob.text(curve.values[place])
        middle = LABEL + area.x(curve.knob.position(curve.values[place])) // DOTS_ACROSS
        start = min(max(middle - len(text) // 2, 0), len(cells) - len(text))
        end = start + len(text)
        if all(end < other or start > stop for other, stop in taken):
            taken.append((start, end))
            cells[start:end] = text
    return (Span("".join(cells), "dim"),)
