"""The text of a file without what is redacted in it. Pure; lines keep their numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from kbx_tui.knowledge.facts.redacted_lines import Span, redacted_lines
from kbx_tui.knowledge.facts.redaction_marks import REDACTED, has_field_mark
from kbx_tui.knowledge.parsing.frontmatter import read_frontmatter

PLACEHOLDER = "- [redacted]"
"""Stands for a run of redacted lines of the body."""
FIELD_PLACEHOLDER = "# [redacted]"
"""Stands for a run of redacted lines of the frontmatter."""

_KEY = re.compile(r"[^\s#\-\[\]{},]")
_ITEM = re.compile(r"(\s*)-(?:\s|$)")
_STATUS = re.compile(
    r"^[ \t]*[\"']?(?:status[\"']?[ \t]*:.*\bredacted\b|redacted[\"']?[ \t]*:[ \t]*(?:true|yes|1))",
    re.IGNORECASE | re.MULTILINE,
)


def marked_lines(text: str) -> frozenset[int]:
    """Return the 0-based numbers of the redacted lines of a file, frontmatter included.

    `text` is decoded, with lines that end in `\\n`. A page redacted as a whole has all of them only
    if that is marked in its body: see `is_page_redacted`.
    """
    if REDACTED not in text.lower():
        return frozenset()
    front = read_frontmatter(text)
    first = front.body_line - 1
    head = text.split("\n")[:first]
    fields = {line for start, end in _marked_fields(head) for line in range(start, end)}
    return frozenset(fields | {first + line for line in redacted_lines(front.body)})


def public_text(text: str) -> str:
    """Return a file with its redacted lines replaced by placeholders and blank lines."""
    marked = marked_lines(text)
    first = read_frontmatter(text).body_line - 1 if marked else 0
    return _blanked(text, marked, first)


def says_redacted_at_top(text: str) -> bool:
    """Return whether the top of a file gives the status, valid YAML or not, closed or not."""
    if not text.startswith("---"):
        return False
    front = read_frontmatter(text)
    end = front.body_line - 1
    top = "\n".join(text.split("\n")[:end]) if end else text.partition("\n\n")[0]
    return _STATUS.search(top) is not None


def _blanked(text: str, marked: Collection[int], first_of_body: int) -> str:
    if not marked:
        return text
    shown = []
    for number, line in enumerate(text.split("\n")):
        if number not in marked:
            shown.append(line)
        elif number - 1 in marked and number != first_of_body:
            shown.append("")
        else:
            shown.append(FIELD_PLACEHOLDER if number < first_of_body else PLACEHOLDER)
    return "\n".join(shown)


def _marked_fields(head: Sequence[str]) -> Iterator[Span]:
    """Yield the marked entries of frontmatter, of which `head` has all lines, `---` included.

    A mark on an item of a list is about the item, on any other line about the whole entry, and on a
    line of its own about the entries on both sides.
    """
    for number in range(1, len(head) - 1):
        line = head[number]
        if not has_field_mark(line):
            continue
        item = _ITEM.match(line)
        if line.lstrip().startswith("#"):
            yield _entry(head, max(number - 1, 1))[0], _entry(head, number + 1)[1]
        elif item:
            indent = len(item[1])
            end = number + 1
            while end < len(head) - 1 and _indent(head[end]) > indent:
                end += 1
            yield number, end
        else:
            yield _entry(head, number)


def _entry(head: Sequence[str], number: int) -> Span:
    """Return the lines of the top-level entry that a line belongs to."""
    start = number
    while start > 1 and not _KEY.match(head[start]):
        start -= 1
    end = number + 1
    while end < len(head) - 1 and not _KEY.match(head[end]):
        end += 1
    return start, min(end, len(head) - 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 10**6
