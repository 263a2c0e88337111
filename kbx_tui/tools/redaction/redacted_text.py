"""Redaction of marked lines: they are blanked before any text is passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbx_tui.knowledge.facts.fact_sections import facts_with_items
from kbx_tui.knowledge.facts.redaction_marks import has_redaction_mark, is_page_redacted
from kbx_tui.knowledge.parsing.markdown import outline
from kbx_tui.knowledge.records import Document

PLACEHOLDER = "- [redacted]"

_TABLE_ROW = re.compile(r"\s*\|")


def redacted_lines(document: Document) -> frozenset[int]:
    """Return the 0-based numbers of all redacted lines of the body.

    These are the facts, list items (with everything nested in them), paragraphs, table rows and
    sections whose text or heading has a redaction mark; on a redacted page, all lines.
    """
    if is_redacted(document):
        return frozenset(range(document.body.count("\n") + 1))
    if "redacted" not in document.body.lower():
        return frozenset()
    return frozenset(line for start, end in _redacted_spans(document) for line in range(start, end))


def is_redacted(document: Document) -> bool:
    """Return whether a page is redacted as a whole, and so does not exist to tools."""
    return is_page_redacted(document.title, document.frontmatter)


def redact(document: Document) -> str:
    """Return the body with redacted lines blanked; line numbers stay."""
    redacted = redacted_lines(document)
    if not redacted:
        return document.body
    return "\n".join(
        line if number not in redacted else ("" if number - 1 in redacted else PLACEHOLDER)
        for number, line in enumerate(document.body.split("\n"))
    )


def _redacted_spans(document: Document) -> Iterator[tuple[int, int]]:
    """Yield first line and end of everything marked, which may overlap."""
    for fact, item in facts_with_items(document, ""):
        if fact.status == "redacted":
            yield item.line, item.end
    lines = document.body.split("\n")
    blocks = outline(document.body)
    for item in blocks.items:
        if _is_marked(lines[item.line : item.text_end]):
            yield item.line, item.end
    for index, heading in enumerate(blocks.headings):
        if _is_marked(lines[heading.line : heading.end]):
            yield heading.line, min(blocks.section_end(index), len(lines))
    starts = {item.line for item in blocks.items} | {heading.line for heading in blocks.headings}
    for start, end in _paragraphs(lines, starts):
        if _is_marked(lines[start:end]):
            yield start, end


def _paragraphs(lines: list[str], starts: set[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of non-blank lines; each of `starts` and each table row begins another."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        previous = lines[number - 1] if 0 < number < len(lines) else ""
        is_row = _TABLE_ROW.match(line) or _TABLE_ROW.match(previous)
        if not line.strip() or number in starts or is_row:
            if start < number:
                yield start, number
            start = number if line.strip() else number + 1


def _is_marked(lines: list[str]) -> bool:
    return has_redaction_mark(" ".join(line.strip() for line in lines))
