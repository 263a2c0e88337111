"""Facts and open items: list items at the top of an entity page and in certain sections."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b

from kbx_tui.knowledge.fact_line import (
    MARKERS,
    FactLine,
    Status,
    notes_in,
    read_confidence,
    read_fact_line,
    read_status,
    split_head,
)
from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.markdown import (
    MAX_LINES,
    Heading,
    ListItem,
    headings,
    outline,
    read_as_markdown,
)
from kbx_tui.knowledge.records import REDACTED, Document, Fact, FactKind

_SECTIONS: dict[str, FactKind] = {
    "recent facts": "fact",
    "facts": "fact",
    "open items": "open_item",
}
_MAY_HOLD_FACTS = re.compile(r"facts|open items", re.IGNORECASE)
_ITEM = re.compile(r"\n[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_TASK = re.compile(r"\[[ xX]\](?:\s|$)")
DEFAULT_CONFIDENCE = 0.7
ID_LIMIT = 2**53


def fact_id(entity_id: str, text: str, *discriminators: str) -> int:
    """Return a 53-bit hash, never 0, which ignores case, accents and spacing of the text."""
    key = "\0".join((entity_id, _normalized(text), *(discriminators or ("0",))))
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) >> 11 or 1


def read_facts(document: Document, entity_id: str) -> tuple[Fact, ...]:
    """Return the facts and open items on the page of an entity, in file order.

    These are the list items in sections named Recent Facts, Facts or Open Items, and those at the
    top of the page, before its first section: there a task is an open item, and an item that is
    only a link leads elsewhere. A nested item that only gives sources, status or confidence belongs
    to its parent; any other is a fact of its own.
    """
    return tuple(fact for fact, _ in facts_with_items(document, entity_id))


def facts_with_items(document: Document, entity_id: str) -> tuple[tuple[Fact, ListItem], ...]:
    entries = _entries_of_page(document)
    facts = []
    for entry, discriminators in zip(entries, _discriminators(entries), strict=True):
        line = entry.line
        fact = Fact(
            fact_id=fact_id(entity_id, line.text, *discriminators),
            entity_id=entity_id,
            kind=entry.kind,
            text=line.text,
            date=line.date,
            path=document.path,
            line=document.body_line + entry.item.line,
            status=line.status or "active",
            done=line.done and entry.kind == "open_item",
            sources=line.sources or (document.path,),
            confidence=DEFAULT_CONFIDENCE if line.confidence is None else line.confidence,
        )
        facts.append((fact, entry.item))
    return tuple(facts)


_MAY_BE_NOTED = re.compile(
    r"~~|superseded|archived|[-*+.)\]][ \t]+\[\d|[(\[](?:sources?|from|status|confidence)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def facts_as_said(body: str) -> str:
    """Return a body of the same length in which the facts say only what holds: spaces replace those
    that are superseded or archived, and of the others the dates and notes, such as sources."""
    if not _MAY_BE_NOTED.search(body):
        return body  # most pages need not be parsed
    lines = body.split("\n")
    for entry in _entries(body):
        item = entry.item
        if entry.status in ("superseded", "archived"):
            for number in range(item.line, min(item.end, len(lines))):
                lines[number] = " " * len(lines[number])
        for number in range(item.line, min(item.text_end, len(lines))):
            line = lines[number]
            begin = found.end() if (found := MARKERS.match(line)) else 0
            box, date, _ = split_head(line[begin:])
            for note in (date, *notes_in(line[begin:])):
                if note and REDACTED not in note.casefold():
                    at = line.find(note, begin + len(box))
                    line = line[:at] + " " * len(note) + line[at + len(note) :]
            lines[number] = line
    return "\n".join(lines)


def first_new_fact(before: Sequence[Fact], after: Sequence[Fact]) -> Fact | None:
    """Return the first fact in ``after`` that is not in ``before``, None if there is none.

    Both are in file order. Status, checkbox and confidence are not compared.
    """
    contents = [_content(fact) for fact in before]
    for index, fact in enumerate(after):
        if index >= len(contents) or _content(fact) != contents[index]:
            return fact
    return None


def _content(fact: Fact) -> tuple[object, ...]:
    return fact.kind, fact.text, fact.date, fact.sources


def _discriminators(entries: Sequence[_Entry]) -> Iterator[tuple[str, ...]]:
    """Yield the discriminators for the id of each fact: none if its text is unique on the page.

    Otherwise they are its kind, date and sources, and its number and the count of facts that share
    text and all of these. So an id never passes to another line: if one of two facts with the same
    text is deleted, the text of the other becomes unique; if one of three that differ in date or
    source is deleted, the others keep their ids.
    """
    keys = [
        (_normalized(entry.line.text), entry.kind, entry.line.date, *entry.line.sources)
        for entry in entries
    ]
    texts = Counter(text for text, *_ in keys)
    totals, seen = Counter(keys), Counter[tuple[str, ...]]()
    for key in keys:
        text, *rest = key
        if texts[text] == 1:
            yield ()
        else:
            yield (*rest, f"{seen[key]} of {totals[key]}")
            seen[key] += 1


def _normalized(text: str) -> str:
    return " ".join(fold(text).split())


@dataclass(frozen=True, slots=True)
class FactSection:
    kind: FactKind
    title: str
    first: int
    end: int
    items: tuple[ListItem, ...]


def fact_sections(body: str) -> Iterator[FactSection]:
    """Yield the sections that hold facts or open items, in file order, without the page's top."""
    if not _MAY_HOLD_FACTS.search(body):
        return
    blocks = outline(body)
    count = body.count("\n") + 1
    item_lines = [item.line for item in blocks.items]
    covered = 0
    for index, heading in enumerate(blocks.headings):
        title, kind = heading.text.strip().rstrip(":").casefold(), _kind(heading)
        if kind is None or heading.line < covered:
            continue
        covered = min(blocks.section_ends[index], count)
        first, last = bisect_left(item_lines, heading.end), bisect_left(item_lines, covered)
        within = blocks.items[first:last]
        yield FactSection(kind, title, heading.end, covered, within)


@dataclass(slots=True)
class _Entry:
    kind: FactKind
    item: ListItem
    line: FactLine
    status: Status
    """Of its line or, if that has none, of the first note that has one."""
    notes: list[FactLine] = field(default_factory=list)


def _entries_of_page(document: Document) -> list[_Entry]:
    from kbx_tui.knowledge.redaction import (  # reads YAML: not for a search
        is_page_redacted,
        redacted_lines,
    )

    page_status = read_status(text_of(document.frontmatter.get("status")))
    page_confidence = read_confidence(text_of(document.frontmatter.get("confidence")))
    page_redacted = is_page_redacted(document.title, document.frontmatter)
    redacted = None if page_redacted else redacted_lines(document.body)
    entries = _entries(document.body, redacted)
    of_page = FactLine("", status=page_status, confidence=page_confidence)
    for entry in entries:
        if entry.notes or page_status or page_confidence is not None:
            entry.line = entry.line.with_notes([*entry.notes, of_page])
    return entries


def _entries(body: str, redacted: Collection[int] | None = ()) -> list[_Entry]:
    """Return the entries of a body; `redacted` are its redacted lines, None for all."""
    entries: list[_Entry] = []
    parents: list[_Entry] = []
    for kind, item, text in _section_items(body):
        while parents and parents[-1].item.depth >= item.depth:
            parents.pop()
        line = read_fact_line(text)
        if (redacted is None or item.line in redacted) and line.status in ("", "active"):
            line = replace(line, status="redacted")  # cannot undo the redaction around it
        parent = parents[-1] if parents and item.line < parents[-1].item.end else None
        if parent is not None and line.is_note:
            parent.notes.append(line)
            parent.status = parent.status or line.status
        elif line.text:
            if parent is not None and parent.status and not line.status:
                line = replace(line, status=parent.status)
            entries.append(_Entry(kind, item, line, line.status))
            parents.append(entries[-1])
    return entries


def _section_items(body: str) -> Iterator[tuple[FactKind, ListItem, str]]:
    lines = read_as_markdown(body).split("\n")

    def text_of_item(item: ListItem) -> str:
        own = (line.strip() for line in lines[item.line : item.text_end])
        return MARKERS.sub("", " ".join(own))

    for item in _top_items(body):
        text = text_of_item(item)
        if item.depth or not read_fact_line(text).is_note:
            yield "open_item" if _TASK.match(text) else "fact", item, text
    for section in fact_sections(body):
        for item in section.items:
            yield section.kind, item, text_of_item(item)


def _top_items(body: str) -> Sequence[ListItem]:
    """Return the list items above all headings, or between the title and the next heading."""
    text = f"\n{body}"
    if not (first := _ITEM.search(text)):
        return ()
    ends = (h.line for n, h in enumerate(headings(body)) if n or h.level > 1 or _kind(h))
    if text.count("\n", 0, first.start()) > next(ends, MAX_LINES):
        return ()  # most pages need not be parsed
    blocks = outline(body)
    lines = [item.line for item in blocks.items]
    for number, heading in enumerate(blocks.headings):
        before = bisect_left(lines, heading.line)
        is_title = not number and heading.level == 1 and not _kind(heading)
        if before or not is_title:
            return blocks.items[:before]
    return blocks.items


def _kind(heading: Heading) -> FactKind | None:
    return _SECTIONS.get(heading.text.strip().rstrip(":").casefold())
