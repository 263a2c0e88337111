"""A document wrapped to rows for a pane of a given width. Pure; computed on the engine's thread.

Each line of the file starts a new row and keeps its number; a long line continues on further rows
with a hanging indent. Only the starts of the rows are computed for the whole file, as arrays of
numbers. The spans of a row are made when it is drawn, so that even a huge file leaves the garbage
collector nothing to traverse while the app waits. Frontmatter may be folded to one row, which is
then that of all its lines. The lines of a table are drawn in columns: each is a text as long as
the rows it fills, and places within it move along.

Character offsets refer to the lines of `Preview`. Lines count from 1, rows from 0.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest

from rich.cells import cell_len, get_character_cell_size

from kbx_tui.formatting import format_count
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit,
    is_narrow,
    slice_line,
    wrap_ranges,
)
from kbx_tui.tui.reading.markdown_lines import (
    Kind,
    Mark,
    Place,
    Preview,
    line_kinds,
    line_style,
    overlay,
    wrap_prefix,
)

MARGIN = 2
"""Cells on the left that mark the best passage."""
UNKNOWN_WIDTH = 80
MOST_PROSE = 88
"""Cells of lines that are read; those of tables and code may be longer."""
LEAST_TEXT = 12
"""The minimum width of the text; in a narrower pane rows are cut when drawn."""

_FOLDED, _UNFOLDED = Span("▸ ", "accent"), Span("▾ ", "accent")
_PLAIN = Span(" " * MARGIN)
_BEST = Span("▌ ", "accent")


@dataclass(frozen=True, slots=True)
class TextLayout:
    source: Preview
    """The document as it was before it was laid out."""
    preview: Preview
    """The same with its tables drawn for this width."""
    width: int
    kinds: Sequence[Kind]
    links: tuple[Place, ...]
    first_rows: Sequence[int]
    row_offsets: Sequence[int]
    """The offset in its line of the first character of each row."""
    indents: Sequence[int]
    front_lines: int = 0
    is_folded: bool = False

    def folded(self, is_folded: bool) -> TextLayout:
        is_folded = is_folded and self.front_lines > 0
        return self if is_folded == self.is_folded else replace(self, is_folded=is_folded)

    def is_in_fold(self, place: Place) -> bool:
        return self.is_folded and place.line <= self.front_lines

    @property
    def height(self) -> int:
        return len(self.row_offsets) - self._hidden

    @property
    def _hidden(self) -> int:
        return self._unfolded_rows(self.front_lines).stop - 1 if self.is_folded else 0

    def _unfolded_rows(self, line: int) -> range:
        is_last = line == len(self.first_rows)
        after = len(self.row_offsets) if is_last else self.first_rows[line]
        return range(self.first_rows[line - 1], after)

    def _unfolded(self, row: int) -> int:
        return row + self._hidden if row > 0 else row

    def line(self, row: int) -> Line:
        if not 0 <= row < self.height:
            return BLANK
        if row == 0 and self.is_folded:
            return self._folded_line()
        number, row = self.line_of(row), self._unfolded(row)
        text = self.preview.lines[number - 1]
        start, end = self.row_offsets[row], self._end(row)
        look, marks, prefix = line_style(text, self.kinds[number - 1])
        if number in self.preview.emphasis:
            marks = overlay(marks, self.preview.emphasis[number])
        is_redacted = number in self.preview.redacted
        if is_redacted:
            look, marks = "dim", ()
        best = self.preview.line_start <= number <= self.preview.line_end
        is_first = row == 0 and self.front_lines > 0
        spans = [_BEST if best else _UNFOLDED if is_first else _PLAIN]
        if self.indents[row] > MARGIN:
            spans.append(Span(prefix, "rule"))
        links = () if is_redacted else self._marks(self.links, "link", number, start, end)
        matches = self._marks(self.preview.matches, "match", number, start, end)
        offset = start
        for mark in overlay(overlay(_clip(marks, start, end), links), matches):
            first = max(mark.start, offset)  # overlapping places must not repeat any text
            spans += [Span(text[offset:first], look), Span(text[first : mark.end], mark.look)]
            offset = max(offset, mark.end)
        spans.append(Span(text[offset:end], look))
        return tuple(span for span in spans if span.text)

    def _folded_line(self) -> Line:
        inside = first_from(self.preview.matches, self.front_lines + 1)
        matches = f" · {format_count(inside, 'match')}" if inside else ""
        return (_FOLDED, Span(self.text_of(0), "dim"), Span(matches, "accent"))

    def text_of(self, row: int) -> str:
        if not 0 <= row < self.height:
            return ""
        if row == 0 and self.is_folded:
            return self.preview.front_summary or "frontmatter"
        text, row = self.preview.lines[self.line_of(row) - 1], self._unfolded(row)
        return text[self.row_offsets[row] : self._end(row)]

    def line_of(self, row: int) -> int:
        """Return the line to which `row` belongs; 0 if there is none."""
        if row <= 0 and self.is_folded:
            return 1
        return bisect_right(self.first_rows, max(self._unfolded(row), 0))

    def row_of(self, line: int, character: int = 0) -> int:
        if not self.first_rows:
            return 0
        line = min(max(line, 1), len(self.first_rows))
        if self.is_folded and line <= self.front_lines:
            return 0
        rows = self._unfolded_rows(line)
        row = bisect_right(self.row_offsets, character, rows.start, rows.stop) - 1
        return max(row, rows.start) - self._hidden

    def place_of(self, row: int) -> Place:
        start = self.row_offsets[self._unfolded(row)] if 0 <= row < self.height else 0
        return Place(self.line_of(row), start, start)

    def rows_of(self, place: Place) -> range:
        last = max(place.end - 1, place.start)
        return range(self.row_of(place.line, place.start), self.row_of(place.line, last) + 1)

    def character_at(self, row: int, cell: int) -> tuple[int, int] | None:
        """Return line and character offset at a cell of a row; None outside the text."""
        if not 0 <= row < self.height or (row == 0 and self.is_folded):
            return None
        number, row = self.line_of(row), self._unfolded(row)
        if cell < self.indents[row]:
            return None
        text, cells = self.preview.lines[number - 1], self.indents[row]
        for character in range(self.row_offsets[row], self._end(row)):
            cells += get_character_cell_size(text[character])
            if cells > cell:
                return number, character
        return None

    def line_with(self, row: int, place: Place, look: Look) -> Line:
        line = self.line(row)
        if self.line_of(row) != place.line or self.is_in_fold(place):
            return line
        row = self._unfolded(row)
        shift = self.indents[row] - self.row_offsets[row]
        start, end = max(place.start + shift, self.indents[row]), max(place.end + shift, 0)
        part = (Span(span.text, look) for span in slice_line(line, start, end))
        return (*slice_line(line, 0, start), *part, *slice_line(line, max(start, end)))

    def _end(self, row: int) -> int:
        """Return the offset at which a row, counted unfolded, ends without trailing spaces."""
        number = bisect_right(self.first_rows, row)
        text, first = self.preview.lines[number - 1], self.row_offsets[row]
        is_last = row + 1 == len(self.row_offsets)
        following = 0 if is_last else self.row_offsets[row + 1]  # 0: the next line
        return first + len(text[first : following or None].rstrip(" "))

    @staticmethod
    def _marks(
        places: Sequence[Place], look: Look, line: int, start: int, end: int
    ) -> tuple[Mark, ...]:
        first = max(first_from(places, line, start) - 1, 0)  # the one before may reach in
        marks = [
            Mark(place.start, place.end, look)
            for place in places[first : first_from(places, line, end)]
            if place.line == line
        ]
        return tuple(_clip(marks, start, end))


def lay_out(source: Preview, width: int) -> TextLayout:
    """Return `source` wrapped for lines of `width` cells, unfolded; 0 is an unknown width."""
    room = max((width if width > 0 else UNKNOWN_WIDTH) - MARGIN - 1, LEAST_TEXT)
    prose = min(room, MOST_PROSE)
    kinds = source.kinds or line_kinds(source.lines)
    drawn = dict(_drawn_tables(source.lines, kinds, room))
    preview = _with_drawn(source, drawn) if drawn else source
    first_rows, row_offsets, indents = array("I"), array("I"), array("I")
    for number, (text, kind) in enumerate(zip(preview.lines, kinds, strict=True), 1):
        first_rows.append(len(row_offsets))
        row_offsets.append(0)
        indents.append(MARGIN)
        if number in drawn:
            row_offsets.extend(drawn[number].rows[1:])
            indents.extend([MARGIN] * (len(drawn[number].rows) - 1))
            continue
        most = room if kind in ("code", "table") else prose
        if len(text) <= most and (2 * len(text) <= most or is_narrow(text)):
            continue
        indent = len(wrap_prefix(text, kind))
        indent = indent if indent <= most // 2 else 0
        for start, _ in wrap_ranges(text, most, indent)[1:]:
            row_offsets.append(start)
            indents.append(MARGIN + indent)
    links = tuple(link.place for link in preview.links)
    front = next((number for number, kind in enumerate(kinds) if kind != "front"), len(kinds))
    return TextLayout(source, preview, width, kinds, links, first_rows, row_offsets, indents, front)


MOST_TABLE_LINES = 500
"""Lines of a table that is drawn in columns: a longer one is data, and stays as it is written."""
LEAST_COLUMN = 6
_BAR = " │ "
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class _DrawnLine:
    text: str
    rows: Sequence[int]
    """The offset of the first character of each row."""
    parts: Sequence[tuple[int, int, int]]
    """Start and end of each piece of the line as it was, and where that is now."""
    is_header: bool = False

    def moved(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        for first, last, now in self.parts:
            if (left := max(first, start)) < (right := min(last, end)):
                yield left - first + now, right - first + now

    def place(self, place: Place) -> Place:
        """Return where the first piece of a place is now."""
        return Place(place.line, *next(self.moved(place.start, place.end), (0, 0)))

    def marks(self, emphasis: Sequence[Mark]) -> tuple[Mark, ...]:
        """Return the marks of the line as it is now; the cells of a header are strong."""
        if self.is_header:
            cells = [Mark(start, end, "strong") for start, end, _ in self.parts]
            emphasis = overlay(cells, emphasis)
        return tuple(
            sorted(Mark(*at, look) for *ends, look in emphasis for at in self.moved(*ends))
        )


def _drawn_tables(
    lines: Sequence[str], kinds: Sequence[Kind], room: int
) -> Iterator[tuple[int, _DrawnLine]]:
    """Yield the number of each line of a table, and how it is drawn in at most `room` cells.

    A table has a line of dashes below its header. It stays as it is where `room` is too little.
    """
    pairs = enumerate(zip(lines, kinds, strict=True), 1)
    numbers = [
        number
        for number, (line, kind) in pairs
        if kind == "table" or (kind == "rule" and "|" in line)
    ]
    for _, run in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        table = [number for _, number in run]
        if 2 <= len(table) <= MOST_TABLE_LINES and kinds[table[1] - 1] == "rule":
            yield from _drawn_table(lines, table, room)


def _drawn_table(
    lines: Sequence[str], table: Sequence[int], room: int
) -> Iterator[tuple[int, _DrawnLine]]:
    header, ruled, *body = table
    rows = {number: _table_cells(lines[number - 1]) for number in (header, *body)}
    widths = [0] * max(map(len, rows.values()))
    for number, cells in rows.items():
        for column, (start, end) in enumerate(cells):
            widths[column] = max(widths[column], cell_len(lines[number - 1][start:end]))
    if not any(widths):
        return
    gaps = len(_BAR) * (len(widths) - 1)
    room -= gaps
    most = min(max(widths), max(room, 0))
    while sum(min(width, most) for width in widths) > room and most >= LEAST_COLUMN:
        most -= 1  # the widest columns are narrowed to the same width
    if sum(min(width, most) for width in widths) > room:
        return
    widths = [min(width, most) for width in widths]
    yield ruled, _DrawnLine("─" * (sum(widths) + gaps), (0,), ())
    for number, cells in rows.items():
        yield number, _drawn_row(lines[number - 1], cells, widths, is_header=number == header)


def _table_cells(line: str) -> list[tuple[int, int]]:
    """Return the ranges of the cells of a table's line without the spaces around them."""
    edges = [bar.start() for bar in _PIPE.finditer(line)]
    if line[edges[-1] + 1 :].strip(" "):
        edges.append(len(line))
    ranges = []
    for start, end in pairwise(edges):
        text = line[start + 1 : end]
        first = end - len(text.lstrip(" "))
        ranges.append((first, max(first, start + 1 + len(text.rstrip(" ")))))
    return ranges


def _drawn_row(
    line: str, cells: Sequence[tuple[int, int]], widths: Sequence[int], *, is_header: bool
) -> _DrawnLine:
    missing = [(0, 0)] * (len(widths) - len(cells))
    wrapped = [
        [(start + a, start + b) for a, b in wrap_ranges(line[start:end], width)]
        for (start, end), width in zip([*cells, *missing], widths, strict=True)
    ]
    text, rows, parts = "", list[int](), list[tuple[int, int, int]]()
    for pieces in zip_longest(*wrapped, fillvalue=(0, 0)):
        rows.append(len(text))
        for column, (start, end) in enumerate(pieces):
            text += _BAR if column else ""
            parts.append((start, end, len(text)))
            text += fit(line[start:end], widths[column])
    return _DrawnLine(text, rows, sorted(parts), is_header)


def _with_drawn(source: Preview, drawn: Mapping[int, _DrawnLine]) -> Preview:
    def moved(place: Place) -> Place:
        return drawn[place.line].place(place) if place.line in drawn else place

    lines, emphasis = list(source.lines), dict(source.emphasis)
    for number, line in drawn.items():
        lines[number - 1] = line.text
        emphasis[number] = line.marks(emphasis.get(number, ()))
    links = (replace(link, place=moved(link.place)) for link in source.links)
    return replace(
        source,
        lines=tuple(lines),
        emphasis=emphasis,
        matches=tuple(sorted(map(moved, source.matches), key=_by_place)),
        links=tuple(sorted(links, key=lambda link: _by_place(link.place))),
    )


def _by_place(place: Place) -> tuple[int, int]:
    return place.line, place.start


def place_at(places: Sequence[Place], line: int, character: int) -> int:
    """Return the index of the place at a character, or -1; `places` are sorted."""
    index = first_from(places, line, character + 1) - 1
    if index < 0:
        return -1
    place = places[index]
    return index if place.line == line and place.start <= character < place.end else -1


def first_from(places: Sequence[Place], line: int, character: int = 0) -> int:
    return bisect_left(places, (line, character), key=_by_place)


def _clip(marks: Sequence[Mark], start: int, end: int) -> list[Mark]:
    first = max(bisect_right(marks, start, key=lambda mark: mark.start) - 1, 0)
    clipped: list[Mark] = []
    for mark in marks[first:]:
        if mark.start >= end:
            break
        if mark.end > start:
            clipped.append(Mark(max(mark.start, start), min(mark.end, end), mark.look))
    return clipped


NO_PLACE = -1


def keeps_position(before: Preview, now: Preview) -> bool:
    """Return whether reading continues: in the same document and for the same query."""
    if before.path != now.path:
        return False
    if before.lines != now.lines:  # an edit may have moved the matches and the best passage
        return True
    return (before.matches, before.line_start) == (now.matches, now.line_start)


def restored_index(
    before: Preview, now: Preview, old: Sequence[Place], new: Sequence[Place], index: int
) -> int:
    if index == NO_PLACE or not new:
        return NO_PLACE
    line = restored_line(before.lines, now.lines, old[index].line)
    return min(first_from(new, line, old[index].start), len(new) - 1)


def first_match(preview: Preview) -> int:
    index = first_from(preview.matches, preview.line_start)
    in_best = index < len(preview.matches) and preview.matches[index].line <= preview.line_end
    return index if in_best else NO_PLACE


def is_empty(preview: Preview) -> bool:
    return not any(line.strip(" ") for line in preview.lines)


def restored_line(before: Sequence[str], now: Sequence[str], line: int) -> int:
    """Return the line of `now` that is nearest to `line` and has the text of `line` in `before`."""
    if line < 1 or before is now:
        return line
    candidates = (number for number, text in enumerate(now, 1) if text == before[line - 1])
    return min(candidates, key=lambda number: abs(number - line), default=min(line, len(now)))
