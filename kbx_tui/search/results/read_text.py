"""The text of a passage as it reads: without the signs of Markdown or what is struck out. Pure.

A list item begins with its box, or with a dot where it follows other text. `snippets.py` leaves out
the markup of links, tables, headings and bold text, for every reader; the rest is for the screen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from kbx_tui.knowledge.markdown import EMPHASIS

_STRUCK = re.compile(r"~~(?=\S)[^~]+(?<=\S)~~ ?|~~")
_SIGN = re.compile(r"```\w* ?|`+|\[\^[\w-]+\]|(?<![\w*])\*(?=\w)")
_ITEM = re.compile(r"[-*+•]\s+(?:\[([ xX])\]\s+)?")

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ReadText:
    text: str
    edits: Sequence[tuple[int, int, str]]
    """Where in the source something else is shown, in order: start, end, and what."""

    def place(self, at: int) -> int:
        """Return where the character at a place of the source is in `text`."""
        before = [edit for edit in self.edits if edit[0] < at]
        return at + sum(len(shown) + start - min(at, end) for start, end, shown in before)

    def ranges(self, ranges: Ranges) -> tuple[tuple[int, int], ...]:
        both = ((self.place(start), self.place(end)) for start, end in ranges)
        return tuple((start, end) for start, end in both if start < end)


def as_read(source: str, line_breaks: Sequence[int] = ()) -> ReadText:
    """Return a text as it reads; `line_breaks` are where further lines of the file begin.

    A text that has little else than what is struck out keeps its words.
    """
    struck = [found.span() for found in _STRUCK.finditer(source)]
    if 2 * sum(end - start for start, end in struck) > len(source):
        struck = [found.span() for found in re.finditer("~~", source)]
    edits = {start: (end, "") for start, end in struck}
    edits |= {found.start(): (found.end(), "") for found in _SIGN.finditer(source)}
    for found in chain.from_iterable(each.finditer(source) for each in EMPHASIS):
        edits |= {found.start(): (found.start(1), ""), found.end(1): (found.end(), "")}
    for start in (0, *(at + 1 for at in line_breaks)):
        if item := _ITEM.match(source, start):
            box = "" if item[1] is None else "☐ " if item[1] == " " else "☑ "
            edits[start] = item.end(), box or ("· " if start else "")
    text, kept, end = "", list[tuple[int, int, str]](), 0
    for start, (stop, shown) in sorted(edits.items()):
        if start >= end:  # not inside of what is struck out
            text += source[end:start] + shown
            kept.append((start, stop, shown))
            end = stop
    return ReadText(text + source[end:], kept)
