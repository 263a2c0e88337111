"""What is known of an entity, by date: facts, open items and linked documents, also as of a day.

A superseded fact holds until the day that its line states, `(superseded: 2026-03-17)`, as kbx
writes it. Of a line struck without a day it is not known since when it no longer holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kbx_tui.knowledge.fact_line import MARKERS, SUPERSEDED_ON
from kbx_tui.knowledge.records import Fact
from kbx_tui.search.browse import EntityCard, EntityDocument, EntityName, entity_card
from kbx_tui.search.open_index import OpenIndex

TIMELINE_LIMIT = 50


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    date: str
    """Empty without one."""
    kind: str
    """`fact`, `open_item`, or the kind of a linked document: `meeting`, `note`."""
    text: str
    """The fact, or the title of the document."""
    path: str
    line: int = 1
    fact_id: int | None = None
    status: str = ""
    """What a fact was on that day: `active`, `superseded`, `archived`, `redacted` or `done`."""
    superseded: str = ""
    """From when the fact no longer holds, where its line states it."""
    reason: str = ""
    """Why the document is linked."""


@dataclass(frozen=True, slots=True)
class Timeline:
    entity: EntityName
    as_of: str
    entries: tuple[TimelineEntry, ...]
    """The newest first, undated ones last; of a day, facts before documents."""
    more: int
    """Older entries, beyond the limit."""
    later: int
    """Entries dated after `as_of`, or undated where it is given."""


def timeline(index: OpenIndex, entity_id: str, as_of: str, limit: int) -> Timeline:
    card = entity_card(index, entity_id)
    entries = sorted(_entries(index, card), key=lambda entry: entry.date, reverse=True)
    known = [_as_of(entry, as_of) for entry in entries if _is_known(entry, as_of)]
    name = EntityName(card.id, card.name, card.type, card.path)
    more = max(len(known) - limit, 0)
    return Timeline(name, as_of, tuple(known[:limit]), more, len(entries) - len(known))


def card_as_of(index: OpenIndex, entity_id: str, as_of: str) -> EntityCard:
    """Return a card with what was known at a time, each fact as it was then."""
    card = entity_card(index, entity_id)
    known = [_as_of(entry, as_of) for entry in _entries(index, card) if _is_known(entry, as_of)]
    held = {(entry.path, entry.line) for entry in known if entry.status == "active"}

    def then(facts: Iterable[Fact]) -> Iterator[Fact]:
        for fact in facts:
            if _is_known(fact, as_of):
                yield replace(fact, status="active") if (fact.path, fact.line) in held else fact

    documents = tuple(each for each in card.documents if _is_known(each, as_of))
    items = tuple(then(card.open_items))
    return replace(card, facts=tuple(then(card.facts)), open_items=items, documents=documents)


def _entries(index: OpenIndex, card: EntityCard) -> Iterator[TimelineEntry]:
    facts = (*card.facts, *card.open_items)
    paths = list({fact.path for fact in facts})
    bodies = zip(paths, index.generation().bodies.read(paths), strict=True)
    lines = {path: (body.split("\n"), first) for path, (body, first) in bodies}
    for fact in facts:
        of_page, first = lines[fact.path]
        yield TimelineEntry(
            fact.date,
            fact.kind,
            fact.text,
            fact.path,
            fact.line,
            fact.fact_id,
            "done" if fact.done else fact.status,
            _superseded(fact, of_page, max(fact.line - first, 0)),
        )
    for document in card.documents:
        yield TimelineEntry(
            document.date, document.kind, document.title, document.path, reason=document.reason
        )


def _superseded(fact: Fact, lines: Sequence[str], start: int) -> str:
    """Return the day stated in the lines of a fact, the one at `start` and those to the next."""
    if fact.status != "superseded":
        return ""
    for number in range(start, len(lines)):
        line = lines[number]
        if number > start and (MARKERS.match(line) or not line.strip()):
            break
        if stated := SUPERSEDED_ON.search(line):
            return stated[1]
    return ""


def _is_known(entry: TimelineEntry | Fact | EntityDocument, as_of: str) -> bool:
    return not as_of or (bool(entry.date) and entry.date[: len(as_of)] <= as_of)


def _as_of(entry: TimelineEntry, as_of: str) -> TimelineEntry:
    still_held = bool(as_of) and entry.superseded[: len(as_of)] > as_of
    return replace(entry, status="active") if still_held else entry
