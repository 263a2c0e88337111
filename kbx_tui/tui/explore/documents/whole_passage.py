"""A passage of a document with whole paragraphs, for copying. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\||>|```|~~~)")
"""The beginning of a list item, heading, table row, quotation or code block."""


def whole_passage(lines: Sequence[str], start: int, end: int) -> str:
    """Return lines `start` to `end` (1-based), extended to whole paragraphs and list items.

    Empty if the document has no such lines.
    """
    if not 1 <= start <= min(end, len(lines)):
        return ""
    first, last = start - 1, min(end, len(lines)) - 1
    while first and lines[first].strip() and _continues(lines[first - 1], lines[first]):
        first -= 1
    while last + 1 < len(lines) and _continues(lines[last], lines[last + 1]):
        last += 1
    return "\n".join(lines[first : last + 1]).strip("\n")


def _continues(line: str, following: str) -> bool:
    """Return whether a line and the one after it are in one paragraph or list item."""
    if not (line.strip() and following.strip()) or _BLOCK.match(following):
        return False
    return not line.lstrip().startswith(("#", "|", "```", "~~~"))
