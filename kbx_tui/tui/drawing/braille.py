"""Drawing with braille characters, which have two by four dots in a cell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from kbx_tui.tui.drawing.lines import Line, Look, Span

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
        return [tuple(_joined(self._cells(row))) for row in range(self.height)]

    def _cells(self, row: int) -> Iterable[Span]:
        for sign, bits, look in zip(
            self._signs[row], self._bits[row], self._looks[row], strict=True
        ):
            yield Span(sign or (chr(BLANK_BRAILLE + bits) if bits else " "), look)


def _joined(spans: Iterable[Span]) -> Iterable[Span]:
    for look, group in groupby(spans, key=lambda span: span.look):
        yield Span("".join(span.text for span in group), look)
