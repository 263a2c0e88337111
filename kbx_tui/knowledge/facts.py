"""Facts and open items: the list items under their headings on an entity's page. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

from kbx_tui.knowledge.fact_line import FactLine, read_confidence, read_fact_line, read_status
from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.markdown import ListItem, outline
from kbx_tui.knowledge.names import fold
from kbx_tui.knowledge.records import Document, Fact, FactKind

_SECTIONS: dict[str, FactKind] = {
    "recent facts": "fact",
    "facts": "fact",
    "open items": "open_item",
}
_MAY_HOLD_FACTS = re.compile(r"facts|open items", re.IGNORECASE)
_MARKERS = re.compile(r"^(?:(?:[-*+]|\d{1,9}[.)])(?:\s+|$))+")
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
    seen: Counter[str] = Counter()
    facts = []
    for kind, line, entry in _entries(document):
        normal = " ".join(fold(entry.text).split())
        ordinal = seen[normal]
        seen[normal] += 1
        facts.append(
            Fact(
                fact_id=fact_id(entity_id, entry.text, ordinal),
                entity_id=entity_id,
                kind=kind,
                text=entry.text,
                date=entry.date,
                path=document.path,
                line=document.body_line + line,
                status=entry.status or "active",
                done=entry.done and kind == "open_item",
                sources=entry.sources or (document.path,),
                confidence=DEFAULT_CONFIDENCE if entry.confidence is None else entry.confidence,
            )
        )
    return tuple(facts)


@dataclass(slots=True)
class _Open:
    """An item whose nested items are still to come."""

    item: ListItem
    entry: FactLine
    kind: FactKind


def _entries(document: Document) -> Iterator[tuple[FactKind, int, FactLine]]:
    page_status = read_status(text_of(document.frontmatter.get("status")))
    page_confidence = read_confidence(text_of(document.frontmatter.get("confidence")))
    found: list[_Open] = []
    parents: list[_Open] = []
    for kind, item, text in _section_items(document.body):
        while parents and parents[-1].item.depth >= item.depth:
            parents.pop()
        entry = read_fact_line(text)
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
        yield opened.kind, opened.item.line, entry


def _section_items(body: str) -> Iterator[tuple[FactKind, ListItem, str]]:
    if not _MAY_HOLD_FACTS.search(body):
        return
    blocks = outline(body)
    lines = body.split("\n")
    covered = 0
    for index, heading in enumerate(blocks.headings):
        kind = _SECTIONS.get(heading.text.strip().rstrip(":").casefold())
        if kind is None or heading.line < covered:
            continue
        covered = blocks.section_end(index)
        for item in blocks.items:
            if heading.end <= item.line < covered:
                own = (line.strip() for line in lines[item.line : item.text_end])
                yield kind, item, _MARKERS.sub("", " ".join(own))
