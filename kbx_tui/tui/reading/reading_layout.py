"""A document in rows for a pane of a certain width. Pure: made on the engine's thread.

A line of the file starts a new row and keeps its number; what is too long goes on below, under
its own words. Only where rows begin is worked out for all of a file, in arrays of numbers: the
spans of a row are made when it is drawn, so that a file of megabytes leaves nothing behind that
the garbage collector would have to walk through while the app waits.

Characters are counted in the lines as `Preview` has them, lines from 1 and rows from 0.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import get_character_cell_size

from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span
from kbx_tui.tui.drawing.wrapping import is_narrow, pieces
from kbx_tui.tui.explore.view import Place, Preview
from kbx_tui.tui.reading.markdown_lines import Kind, Mark, kinds, layered, lead_of, shape

MARGIN = 2
"""Cells on the left, where the best place is marked."""
UNKNOWN_WIDTH = 80
"""Laid out for this when the pane has no width yet."""
LEAST_TEXT = 12
"""Cells of text in the narrowest pane; what does not fit is cut when it is drawn."""

_PLAIN = Span(" " * MARGIN)
_BEST = Span("▌ ", "accent")


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Where everything in a document stands in a pane."""

    preview: Preview
    width: int
    """Of the lines of the pane, as it was asked for."""
    kinds: Sequence[Kind]
    links: tuple[Place, ...]
    starts: Sequence[int]
    """For each line of the file, its first row."""
    firsts: Sequence[int]
    """For each row, the first character of its line that it shows."""
    indents: Sequence[int]
    """For each row, the cells of margin and indent before that character."""

    @property
    def height(self) -> int:
        """Rows of the whole document."""
        return len(self.firsts)

    def line(self, row: int) -> Line:
        """Return what stands on `row`; nothing outside the document."""
        if not 0 <= row < self.height:
            return BLANK
        number = self.line_of(row)
        text = self.preview.lines[number - 1]
        start, end = self.firsts[row], self._end(row)
        look, marks, lead = shape(text, self.kinds[number - 1])
        best = self.preview.line_start <= number <= self.preview.line_end
        spans = [_BEST if best else _PLAIN]
        if self.indents[row] > MARGIN:
            spans.append(Span(lead, "rule"))
        shown = layered(
            layered(
                _clipped(marks, start, end), self._marks(self.links, "link", number, start, end)
            ),
            self._marks(self.preview.matches, "match", number, start, end),
        )
        at = start
        for mark in shown:
            first = max(mark.start, at)  # whatever places are given, text is shown once
            spans += [Span(text[at:first], look), Span(text[first : mark.end], mark.look)]
            at = max(at, mark.end)
        spans.append(Span(text[at:end], look))
        return tuple(span for span in spans if span.text)

    def text_of(self, row: int) -> str:
        """Return the part of its line that `row` shows."""
        if not 0 <= row < self.height:
            return ""
        return self.preview.lines[self.line_of(row) - 1][self.firsts[row] : self._end(row)]

    def line_of(self, row: int) -> int:
        """Return the line of the file that `row` shows a part of; 0 when there is none."""
        return bisect_right(self.starts, max(row, 0))

    def row_of(self, line: int, character: int = 0) -> int:
        """Return the row on which a character of a line stands."""
        if not self.starts:
            return 0
        line = min(max(line, 1), len(self.starts))
        first = self.starts[line - 1]
        after = self.starts[line] if line < len(self.starts) else self.height
        return max(bisect_right(self.firsts, character, first, after) - 1, first)

    def place_of(self, row: int) -> Place:
        """Return where `row` begins; the end of the document when it is below."""
        start = self.firsts[row] if 0 <= row < self.height else 0
        return Place(self.line_of(row), start, start)

    def rows_of(self, place: Place) -> range:
        """Return the rows over which a place extends."""
        last = max(place.end - 1, place.start)
        return range(self.row_of(place.line, place.start), self.row_of(place.line, last) + 1)

    def character_at(self, row: int, cell: int) -> tuple[int, int] | None:
        """Return line and character that stand at a cell of a row; None beside the text."""
        if not 0 <= row < self.height or cell < self.indents[row]:
            return None
        text, at = self.preview.lines[self.line_of(row) - 1], self.indents[row]
        for character in range(self.firsts[row], self._end(row)):
            at += get_character_cell_size(text[character])
            if at > cell:
                return self.line_of(row), character
        return None

    def line_with(self, row: int, place: Place, look: Look) -> Line:
        """Return `row` with what it shows of `place` in another look."""
        line = self.line(row)
        if self.line_of(row) != place.line:
            return line
        shift = self.indents[row] - self.firsts[row]
        return _relooked(line, max(place.start + shift, self.indents[row]), place.end + shift, look)

    def _end(self, row: int) -> int:
        text, first = self.preview.lines[self.line_of(row) - 1], self.firsts[row]
        if row + 1 == self.height or self.firsts[row + 1] == 0:  # the next line begins there
            return max(len(text.rstrip(" ")), first)
        return first + len(text[first : self.firsts[row + 1]].rstrip(" "))

    @staticmethod
    def _marks(
        places: Sequence[Place], look: Look, line: int, start: int, end: int
    ) -> tuple[Mark, ...]:
        first = max(first_from(places, line, start) - 1, 0)  # the one before may reach into the row
        marks = [
            Mark(place.start, place.end, look)
            for place in places[first : first_from(places, line, end)]
            if place.line == line
        ]
        return tuple(_clipped(marks, start, end))


def lay_out(preview: Preview, width: int) -> TextLayout:
    """Return `preview` for a pane whose lines have `width` cells; 0 when that is not known yet."""
    room = max((width if width > 0 else UNKNOWN_WIDTH) - MARGIN - 1, LEAST_TEXT)
    all_kinds = kinds(preview.lines)
    starts, firsts, indents = array("I"), array("I"), array("I")
    for text, kind in zip(preview.lines, all_kinds, strict=True):
        starts.append(len(firsts))
        firsts.append(0)
        indents.append(MARGIN)
        if len(text) <= room and (2 * len(text) <= room or is_narrow(text)):
            continue
        lead = len(lead_of(text, kind))
        lead = lead if lead <= room // 2 else 0
        for start, _ in pieces(text, room, lead)[1:]:
            firsts.append(start)
            indents.append(MARGIN + lead)
    links = tuple(link.place for link in preview.links)
    return TextLayout(preview, width, all_kinds, links, starts, firsts, indents)


def place_at(places: Sequence[Place], line: int, character: int) -> int:
    """Return which of `places`, in order, is at a character; -1 when none is."""
    index = first_from(places, line, character + 1) - 1
    if index < 0:
        return -1
    place = places[index]
    return index if place.line == line and place.start <= character < place.end else -1


def first_from(places: Sequence[Place], line: int, character: int = 0) -> int:
    """Return the first of `places`, in order, that begins here or later; their number if none."""
    return bisect_left(places, (line, character), key=lambda place: (place.line, place.start))


def _clipped(marks: Sequence[Mark], start: int, end: int) -> list[Mark]:
    first = max(bisect_right(marks, start, key=lambda mark: mark.start) - 1, 0)
    clipped: list[Mark] = []
    for mark in marks[first:]:
        if mark.start >= end:
            break
        if mark.end > start:
            clipped.append(Mark(max(mark.start, start), min(mark.end, end), mark.look))
    return clipped


def _relooked(line: Line, start: int, end: int, look: Look) -> Line:
    """Return `line` with its characters from `start` to `end` in another look."""
    return tuple(_split(line, start, end, look))


def _split(line: Line, start: int, end: int, look: Look) -> Iterator[Span]:
    at = 0
    for text, own in line:
        first, last = (min(max(one - at, 0), len(text)) for one in (start, end))
        for piece, name in ((text[:first], own), (text[first:last], look), (text[last:], own)):
            if piece:
                yield Span(piece, name)
        at += len(text)
