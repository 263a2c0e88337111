"""Where a person goes on reading when what they read is shown anew. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.tui.explore.view import Place, Preview
from kbx_tui.tui.reading.reading_layout import first_from

NONE = -1
"""At none of the places."""


def goes_on(before: Preview, now: Preview) -> bool:
    """Return whether a person goes on reading: the same document, and not for another query."""
    if before.path != now.path:
        return False
    if before.lines != now.lines:  # edited: matches and best place may have moved with the text
        return True
    return (before.matches, before.line_start) == (now.matches, now.line_start)


def again(
    before: Preview, now: Preview, old: Sequence[Place], new: Sequence[Place], at: int
) -> int:
    """Return which of the `new` places a person is at who was at one of the `old` ones."""
    if at == NONE or not new:
        return NONE
    line = line_again(before.lines, now.lines, old[at].line)
    return min(first_from(new, line, old[at].start), len(new) - 1)


def first_match(preview: Preview) -> int:
    """Return the first match in the best place."""
    index = first_from(preview.matches, preview.line_start)
    in_best = index < len(preview.matches) and preview.matches[index].line <= preview.line_end
    return index if in_best else NONE


def is_empty(preview: Preview) -> bool:
    """Return whether there is nothing to read."""
    return not any(line.strip(" ") for line in preview.lines)


def line_again(before: Sequence[str], now: Sequence[str], line: int) -> int:
    """Return which line of `now` is what `line` was `before`: the nearest that reads the same."""
    if line < 1 or before is now:
        return line
    text = before[line - 1]
    for distance in range(max(line, len(now) - line) + 1):
        for candidate in (line - distance, line + distance):
            if 1 <= candidate <= len(now) and now[candidate - 1] == text:
                return candidate
    return min(line, len(now))
