"""Restores the reading position when a document is shown again. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.tui.reading.preview import Place, Preview
from kbx_tui.tui.reading.reading_layout import first_from

NO_PLACE = -1
"""The index for no match and no link."""


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
    """Return the index in `new` of the place that had `index` in `old`, or NO_PLACE."""
    if index == NO_PLACE or not new:
        return NO_PLACE
    line = restored_line(before.lines, now.lines, old[index].line)
    return min(first_from(new, line, old[index].start), len(new) - 1)


def first_match(preview: Preview) -> int:
    """Return the index of the first match in the best passage, or NO_PLACE."""
    index = first_from(preview.matches, preview.line_start)
    in_best = index < len(preview.matches) and preview.matches[index].line <= preview.line_end
    return index if in_best else NO_PLACE


def is_empty(preview: Preview) -> bool:
    """Return whether the document has no text."""
    return not any(line.strip(" ") for line in preview.lines)


def restored_line(before: Sequence[str], now: Sequence[str], line: int) -> int:
    """Return the line of `now` that is nearest to `line` and has the text of `line` in `before`."""
    if line < 1 or before is now:
        return line
    candidates = (number for number, text in enumerate(now, 1) if text == before[line - 1])
    return min(candidates, key=lambda number: abs(number - line), default=min(line, len(now)))
