"""Facts and open items: the list items under their headings on an entity's page. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

from kbx_tui.knowledge.fact_line import (
    MARKERS,
    FactLine,
    read_confidence,
    read_fact_line,
    read_status,
)
from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.markdown import ListItem, outline
from kbx_tui.knowledge.names import fold
from kbx_tui.knowledge.records import Document, Fact, FactKind
from kbx_tui.knowledge.redacted import is_marked, is_page_marked

_SECTIONS: dict[str, FactKind] = {
    "recent facts": "fact",
    "facts": "fact",
    "open items": "open_item",
}
_MAY_HOLD_FACTS = re.compile(r"facts|open items", re.IGNORECASE)
DEFAULT_CONFIDENCE = 0.7


def fact_id(entity_id: str, text: str, ordinal: int = 0) -> int:
    """Return the id of the ``ordinal``-th fact of an entity with this text: 53 bits, never 0.

    53 bits pass through JSON and a float unharmed. Letter case, accents and spacing do not matter.
    """
    key = "\0".join((entity_id, " ".join(fold(text).split()), str(ordinal)))
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) >> 11 or 1


def read_facts(document: Document, entity_id: str) -> tuple[Fact, ...]:
    """Return the facts and open items of the page of an entity, in file order.

    They are the list items under headings named Recent Facts, Facts or Open Items, down to the next
    heading of the same level. A nested item that only says where its parent comes from, or how
    certain it is, belongs to the parent; any other is a fact of its own.
    """
    return tuple(fact for fact, _ in placed_facts(document, entity_id))


def placed_facts(document: Document, entity_id: str) -> tuple[tuple[Fact, ListItem], ...]:
    """Return the same facts, each with its list item, whose lines are those of the body."""
    seen: Counter[str] = Counter()
    facts = []
    for kind, item, entry in _entries(document):
        normal = " ".join(fold(entry.text).split())
        ordinal = seen[normal]
        seen[normal] += 1
        fact = Fact(
            fact_id=fact_id(entity_id, entry.text, ordinal),
            entity_id=entity_id,
            kind=kind,
            text=entry.text,
            date=entry.date,
            path=document.path,
            line=document.body_line + item.line,
            status=entry.status or "active",
            done=entry.done and kind == "open_item",
            sources=entry.sources or (document.path,),
            confidence=DEFAULT_CONFIDENCE if entry.confidence is None else entry.confidence,
        )
        facts.append((fact, item))
    return tuple(facts)


@dataclass(frozen=True, slots=True)
class FactSection:
    """A heading that facts or open items stand under. Lines are those of the body, 0-based."""

    kind: FactKind
    title: str
    first: int
    """First line after the heading."""
    end: int
    """First line of the next section of the same level, or the number of lines."""
    items: tuple[ListItem, ...]
    """All list items in it."""
    is_redacted: bool
    """A heading it stands below bears the mark."""


def fact_sections(body: str) -> Iterator[FactSection]:
    """Yield the sections of facts and open items in file order."""
    if not _MAY_HOLD_FACTS.search(body):
        return
    blocks = outline(body)
    count = body.count("\n") + 1
    covered = 0
    for index, heading in enumerate(blocks.headings):
        title = heading.text.strip().rstrip(":").casefold()
        kind = _SECTIONS.get(title)
        if kind is None or heading.line < covered:
            continue
        covered = min(blocks.section_end(index), count)
        within = (item for item in blocks.items if heading.end <= item.line < covered)
        above = (
            one.text
            for at, one in enumerate(blocks.headings[:index])
            if blocks.section_end(at) > heading.line
        )
        is_redacted = any(map(is_marked, above))
        yield FactSection(kind, title, heading.end, covered, tuple(within), is_redacted)


@dataclass(slots=True)
class _Open:
    """An item whose nested items are still to come."""

    item: ListItem
    entry: FactLine
    kind: FactKind


def _entries(document: Document) -> Iterator[tuple[FactKind, ListItem, FactLine]]:
    page_status = read_status(text_of(document.frontmatter.get("status")))
    page_confidence = read_confidence(text_of(document.frontmatter.get("confidence")))
    is_page_redacted = is_page_marked(document.title, document.frontmatter)
    found: list[_Open] = []
    parents: list[_Open] = []
    for section, item, text in _section_items(document.body):
        kind = section.kind
        while parents and parents[-1].item.depth >= item.depth:
            parents.pop()
        entry = read_fact_line(text)
        if (is_page_redacted or section.is_redacted) and entry.status in ("", "active"):
            entry = replace(entry, status="redacted")  # a line does not lift what stands above it
        parent = parents[-1] if parents and item.line < parents[-1].item.end else None
        if parent is not None and entry.is_note:
            parent.entry = parent.entry.with_note(entry)
            continue
        if not entry.text:
            continue
        if parent is not None and not entry.status:
            entry = replace(entry, status=parent.entry.status)
        found.append(_Open(item, entry, kind))
        parents.append(found[-1])
    for opened in found:
        entry = opened.entry
        if not entry.status and page_status:
            entry = replace(entry, status=page_status)
        if entry.confidence is None:
            entry = replace(entry, confidence=page_confidence)
        yield opened.kind, opened.item, entry


def _section_items(body: str) -> Iterator[tuple[FactSection, ListItem, str]]:
    lines = body.split("\n")
    for section in fact_sections(body):
        for item in section.items:
            own = (line.strip() for line in lines[item.line : item.text_end])
            yield section, item, MARKERS.sub("", " ".join(own))
