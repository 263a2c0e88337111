"""What is marked as redacted never leaves: its lines are blanked before any text is passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbx_tui.knowledge.facts.fact_sections import placed_facts
from kbx_tui.knowledge.facts.redacted import is_marked, is_page_marked
from kbx_tui.knowledge.parsing.markdown import outline
from kbx_tui.knowledge.records import Document

PLACEHOLDER = "- [redacted]"

_ROW = re.compile(r"\s*\|")


def redacted_lines(document: Document) -> frozenset[int]:
    """Return the lines of the body, 0-based, of all that is redacted.

    That is every fact, list item (with all nested below it), paragraph, table row and section whose
    text or heading bears the mark; all lines of a page that is redacted as a whole.
    """
    if is_redacted(document):
        return frozenset(range(document.body.count("\n") + 1))
    if "redacted" not in document.body.lower():
        return frozenset()
    return frozenset(line for start, end in _spans(document) for line in range(start, end))


def is_redacted(document: Document) -> bool:
    """Tell whether a page is redacted as a whole: tools then know nothing of it."""
    return is_page_marked(document.title, document.frontmatter)


def redact(document: Document) -> str:
    """Return the body without what is redacted; lines keep their numbers."""
    hidden = redacted_lines(document)
    if not hidden:
        return document.body
    return "\n".join(
        line if at not in hidden else ("" if at - 1 in hidden else PLACEHOLDER)
        for at, line in enumerate(document.body.split("\n"))
    )


def _spans(document: Document) -> Iterator[tuple[int, int]]:
    for fact, item in placed_facts(document, ""):
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
    starts = {item.line for item in blocks.items} | {one.line for one in blocks.headings}
    for start, end in _paragraphs(lines, starts):
        if _is_marked(lines[start:end]):
            yield start, end


def _paragraphs(lines: list[str], starts: set[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of lines that are not blank; items, headings and table rows begin anew."""
    begun = 0
    for at, line in enumerate([*lines, ""]):
        is_row = _ROW.match(line) or (at and at < len(lines) and _ROW.match(lines[at - 1]))
        if not line.strip() or at in starts or is_row:
            if begun < at:
                yield begun, at
            begun = at if line.strip() else at + 1


def _is_marked(lines: list[str]) -> bool:
    return is_marked(" ".join(line.strip() for line in lines))
