"""The lines of a body that are marked as redacted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from kbx_tui.knowledge.facts.redaction_marks import REDACTED, has_redaction_mark, is_lone_mark
from kbx_tui.knowledge.parsing.markdown import (
    MAX_LINES,
    Outline,
    has_unread_lines,
    outline,
    read_as_markdown,
)

Span = tuple[int, int]
"""First line and first line after it, 0-based lines of the body."""

_TABLE_ROW = re.compile(r"\s*\|")


def redacted_lines(body: str) -> frozenset[int]:
    """Return the 0-based numbers of the redacted lines of a body.

    These are the list items (with everything nested in them), paragraphs, code blocks, table rows
    and sections whose text or heading has a redaction mark. A mark alone in its block is about what
    stands directly above it: the item around it, the section of a heading, or the block before.
    With a mark anywhere, the lines that are not read as markdown are redacted too.
    """
    if REDACTED not in body.lower():
        return frozenset()
    return _redacted_lines(body)


@lru_cache(maxsize=8)
def _redacted_lines(body: str) -> frozenset[int]:
    lines = set[int]()
    reached = 0
    for start, end in sorted(_Blocks(body).redacted()):
        lines.update(range(max(start, reached), end))
        reached = max(reached, end)
    if has_unread_lines(body):  # where a block ends there is unknown
        lines.update(range(MAX_LINES, body.count("\n") + 1))
    return frozenset(lines)


def paragraphs(body: str) -> Iterator[Span]:
    """Yield runs of lines that are not blank; each item, heading and table row begins another.

    Only of lines that are read as markdown.
    """
    lines, blocks = read_as_markdown(body).split("\n"), outline(body)
    starts = {item.line for item in blocks.items} | {heading.line for heading in blocks.headings}
    start = 0
    for number, line in enumerate([*lines, ""]):
        previous = lines[number - 1] if 0 < number < len(lines) else ""
        is_row = _TABLE_ROW.match(line) or _TABLE_ROW.match(previous)
        if not line.strip() or number in starts or is_row:
            if start < number:
                yield start, number
            start = number if line.strip() else number + 1


def _runs(lines: Sequence[str]) -> Iterator[Span]:
    """Yield the runs of lines that are not blank."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        if not line.strip():
            if start < number:
                yield start, number
            start = number + 1


class _Blocks:
    """The blocks of one body, as far as it is read as markdown."""

    def __init__(self, body: str) -> None:
        self._lines = read_as_markdown(body).split("\n")
        self._outline: Outline = outline(body)
        self._paragraphs = list(paragraphs(body))
        count = len(self._lines)
        self._inner = list[Span | None]([None]) * count
        """Innermost item that begins above each line."""
        self._outer = list[Span | None]([None]) * count
        """Outermost item, else code block, else lines that are not blank, with each line."""
        self._section_of: dict[int, int] = {}
        """Index of the heading on each line of a heading."""
        blocks = self._outline
        for start, end in (*_runs(self._lines), *blocks.code):
            self._outer[start:end] = [(start, end)] * (min(end, count) - start)
        for item in reversed(blocks.items):  # the outermost last
            start, end = item.line, min(item.end, count)
            self._outer[start:end] = [(start, item.end)] * (end - start)
        for item in blocks.items:
            start, end = item.line + 1, min(item.end, count)
            self._inner[start:end] = [(item.line, item.end)] * (end - start)
        for index, heading in enumerate(blocks.headings):
            self._section_of |= dict.fromkeys(range(heading.line, heading.end), index)
        self._item_lines = {item.line for item in blocks.items}

    def redacted(self) -> Iterator[Span]:
        """Yield everything marked; the spans may overlap."""
        blocks = self._outline
        for item in blocks.items:
            if has_redaction_mark(self._text(item.line, item.text_end)):
                yield item.line, item.end
        for index, heading in enumerate(blocks.headings):
            if has_redaction_mark(self._text(heading.line, heading.end)):
                yield self._section(index)
        for start, end in blocks.code:
            if any(map(has_redaction_mark, self._lines[start:end])):
                yield start, end
        for start, end in self._paragraphs:
            text = self._text(start, end)
            if has_redaction_mark(text):
                yield start, end
                if is_lone_mark(text):
                    yield self._above(start, end)

    def _above(self, start: int, end: int) -> Span:
        """Return what a mark alone in the lines `start` to `end` is about."""
        if (around := self._inner[start]) is not None:
            return around
        if start in self._item_lines:
            return start, end  # an item of a list of its own: a placeholder
        above = next((at for at in range(start - 1, -1, -1) if self._lines[at].strip()), -1)
        if above < 0:
            return 0, len(self._lines)
        if above in self._section_of:
            return self._section(self._section_of[above])
        return self._outer[above] or (above, above + 1)

    def _section(self, index: int) -> Span:
        blocks = self._outline
        return blocks.headings[index].line, min(blocks.section_end(index), len(self._lines))

    def _text(self, start: int, end: int) -> str:
        return " ".join(line.strip() for line in self._lines[start:end])
