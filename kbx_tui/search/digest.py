"""A digest of a base for whoever begins to work with it: people, projects, teams, what is new.

It fits a number of tokens. A token is four bytes of UTF-8, rounded up by line: close for English,
more than most models count for other languages. The sections take turns, each adding its next
line, so that all are there in a small digest, and the same base gives the same text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kbx_tui.errors import OutOfRange
from kbx_tui.formatting import format_count, join_limited
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.dates import first_day
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.safe_text import safe_line
from kbx_tui.search.browse import list_facts
from kbx_tui.search.open_index import OpenIndex

MIN_TOKENS, MAX_TOKENS = 100, 100_000
LINE_LENGTH = 240
"""Characters of a line, before its id or place, above which it is cut."""
_MEMBERS, _KINDS = 8, 6


@dataclass(frozen=True, slots=True)
class Digest:
    text: str
    """Markdown: a heading for each section, a line for each entity, fact and document."""
    tokens: int
    budget: int
    left_out: Mapping[str, int]
    """The number of lines of each section that did not fit, by its heading."""
    paths: frozenset[str]
    """The pages that it was made from."""


def make_digest(index: OpenIndex, budget: int) -> Digest:
    """Return the digest of a base. Raises OutOfRange."""
    if not MIN_TOKENS <= budget <= MAX_TOKENS:
        raise OutOfRange(f"tokens must be within {MIN_TOKENS}..{MAX_TOKENS}, got {budget}")
    sections, head = _sections(index), _head(index.generation().snapshot)
    texts: dict[str, list[str]] = {name: [] for name in sections}
    spent, growing, paths = _tokens(head), list(sections), set[str]()
    while growing:
        for name in tuple(growing):
            (records, line_of), lines = sections[name], texts[name]
            number = max(len(lines) - 1, 0)
            line, read = line_of(records[number]) if number < len(records) else ("", ())
            heading = "" if lines else f"\n## {name}"
            cost = _tokens(heading) + _tokens(line)
            if not line or spent + cost > budget:
                growing.remove(name)
                continue
            spent += cost
            lines += [heading, line] if heading else [line]
            paths.update(read)
    left_out = {
        name: len(records) - max(len(texts[name]) - 1, 0) for name, (records, _) in sections.items()
    }
    text = "\n".join([head, *(line for lines in texts.values() for line in lines)])
    left_out = {name: left for name, left in left_out.items() if left}
    return Digest(text, spent, budget, left_out, frozenset(paths - {""}))


def _tokens(text: str) -> int:
    return -(-len(f"{text}\n".encode("utf-8", "replace")) // 4)


def _head(snapshot: Snapshot) -> str:
    kinds = Counter(filter(None, snapshot.kinds)).most_common(_KINDS)
    counts = ", ".join(format_count(count, safe_line(kind)) for kind, count in kinds)
    days = sorted(first_day(date) for date in snapshot.dates if date)
    dated = f", dated {days[0]} to {days[-1]}" if days else ""
    documents = format_count(len(snapshot.paths), "document")
    return f"{documents}{f': {counts}' if counts else ''}{dated}"


_Line = tuple[str, Iterable[str]]
"""A line, and the pages that it was made from."""


def _sections(index: OpenIndex) -> dict[str, tuple[Sequence[Any], Callable[[Any], _Line]]]:
    """Return what each section may list, the most important first, and how it is written."""
    generation = index.generation()
    snapshot, entities = generation.snapshot, generation.entities
    counts = dict(zip(snapshot.entities.ids, snapshot.links.counts().tolist(), strict=True))
    facts = [fact for fact in list_facts(index, "", "") if fact.status == "active"]
    order = sorted(snapshot.entities, key=lambda entity: (-counts[entity.id], entity.id))

    named = {"person": "People", "project": "Projects", "team": "Teams"}
    of_type: dict[str, list[Entity]] = {name: [] for name in (*named.values(), "Other topics")}
    for entity in order:
        of_type[named.get(entity.type, "Other topics")].append(entity)
    newest = [row for row, date in enumerate(snapshot.dates) if date]
    newest.sort(key=lambda row: (first_day(snapshot.dates[row]), snapshot.paths[row]), reverse=True)

    def entity_line(entity: Entity) -> _Line:
        members = [entities[member] for member in entity.members if member in entities]
        names = join_limited([member.name for member in members], limit=_MEMBERS)
        about = ", ".join(filter(None, (entity.role, entity.team, names)))
        words = f"{entity.name}{f': {about}' if about else ''}"
        links = format_count(counts[entity.id], "link")
        paths = (entity.path, *(member.path for member in members))
        return _line(f"{words}; {links}", entity.id), paths

    def document_line(row: int) -> _Line:
        path = snapshot.paths[row]
        words = f"{snapshot.dates[row]} {snapshot.kinds[row]}: {snapshot.titles[row]}"
        return _line(words, f"{path}:1"), (path,)

    def fact_line(fact: Fact) -> _Line:
        owner = entities.get(fact.entity_id)
        words = f"{fact.date} {owner.name if owner else fact.path}: {fact.text}".strip()
        return _line(words, f"fact {fact.fact_id}"), (fact.path,)

    open_items = [fact for fact in facts if fact.kind == "open_item" and not fact.done]
    return {
        **{name: (found, entity_line) for name, found in of_type.items()},
        "Open items": (open_items, fact_line),
        "Recent facts": ([fact for fact in facts if fact.kind == "fact"], fact_line),
        "Recent documents": (newest, document_line),
    }


def _line(text: str, place: str) -> str:
    text = safe_line(text)
    shown = text if len(text) <= LINE_LENGTH else f"{text[: LINE_LENGTH - 1].rstrip()}…"
    return f"- {shown} [{safe_line(place)}]"
