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
    places: Sequence[int]
    """Where in `text` each character of the source is, and its end."""

    def ranges(self, ranges: Ranges) -> tuple[tuple[int, int], ...]:
        both = ((self.places[start], self.places[end]) for start, end in ranges)
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
    text, places = "", list[int]()
    for start, (end, shown) in [*sorted(edits.items()), (len(source), (len(source) + 1, ""))]:
        if start >= len(places):  # not inside of what is struck out
            kept = source[len(places) : start]
            places += range(len(text), len(text) + len(kept))
            text += kept + shown
            places += [len(text)] * (end - start)
    return ReadText(text, places)
