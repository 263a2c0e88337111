"""Facts and open items: the list items under their headings on an entity's page. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from kbx_tui.knowledge.facts.fact_line import (
    MARKERS,
    FactLine,
    read_confidence,
    read_fact_line,
    read_status,
)
from kbx_tui.knowledge.facts.redacted import is_marked, is_page_marked
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.parsing.fields import text_of
from kbx_tui.knowledge.parsing.markdown import ListItem, outline
from kbx_tui.knowledge.records import Document, Fact, FactKind

_SECTIONS: dict[str, FactKind] = {
    "recent facts": "fact",
    "facts": "fact",
    "open items": "open_item",
}
_MAY_HOLD_FACTS = re.compile(r"facts|open items", re.IGNORECASE)
DEFAULT_CONFIDENCE = 0.7


def fact_id(entity_id: str, text: str, *apart: str) -> int:
    """Return the id of a fact of an entity by its text: 53 bits, never 0.

    53 bits pass through JSON and a float unharmed. Letter case, accents and spacing do not matter.
    `apart` tells a fact from others with its text.
    """
    key = "\0".join((entity_id, _normal(text), *(apart or ("0",))))
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
    entries = tuple(_entries(document))
    facts = []
    for (kind, item, entry), apart in zip(entries, _apart(entries), strict=True):
        fact = Fact(
            fact_id=fact_id(entity_id, entry.text, *apart),
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


def new_fact(before: Sequence[Fact], after: Sequence[Fact]) -> Fact | None:
    """Return the first fact of a page that another state of it lacks, both in file order.

    What is struck out, ticked or certain does not make a fact another one.
    """
    said = [_said(fact) for fact in before]
    for at, fact in enumerate(after):
        if at >= len(said) or _said(fact) != said[at]:
            return fact
    return None


def _said(fact: Fact) -> tuple[object, ...]:
    return fact.kind, fact.text, fact.date, fact.sources


def _apart(entries: Sequence[_Entry]) -> Iterator[tuple[str, ...]]:
    """Yield for each fact what its id holds besides its text: nothing where no other has the text.

    Else its kind, date and sources, and which of how many it is that have these as well. So an id
    that was given never comes to mean another line: when one of two goes, the other is the only one
    with its text, and of three that tell date or source, the others keep their ids.
    """
    texts = Counter(_normal(entry.text) for _, _, entry in entries)
    keys = [(_normal(entry.text), kind, entry.date, *entry.sources) for kind, _, entry in entries]
    alike, seen = Counter(keys), Counter[tuple[str, ...]]()
    for text, *rest in keys:
        key = (text, *rest)
        if texts[text] == 1:
            yield ()
        else:
            yield (*rest, f"{seen[key]} of {alike[key]}")
            seen[key] += 1


def _normal(text: str) -> str:
    return " ".join(fold(text).split())


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


_Entry = tuple[FactKind, ListItem, FactLine]


def _entries(document: Document) -> Iterator[_Entry]:
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
