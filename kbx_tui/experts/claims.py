"""Claims: the fact lines of the base, each with every entity it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.index.rows import FACT_COLUMNS, attendees_from, fact_from_row
from kbx_tui.index.where_clause import is_one_of
from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.records import Fact, FactStatus
from kbx_tui.search.open_index import OpenIndex

_CONFIRMED = re.compile(r"\s*[(\[]?\bconfirmed(?: on)?\s*::?\s*(\d{4}-\d{2}-\d{2})[)\]]?", re.I)
_BRACKETS = re.compile(r"!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_ABOUT = frozenset(
    {"person", "people", "project", "projects", "team", "teams", "entity", "entities"}
    | {"lead", "leads", "owner", "owners"}
)
"""Frontmatter keys that name entities which all facts of the page are about too."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact line and the entities it is about."""

    fact_id: int
    text: str
    """Without its `confirmed:` note."""
    status: FactStatus
    date: str
    """ISO date of its last confirmation, else its own, its page's or its file's; may be empty."""
    path: str
    line: int
    sources: tuple[str, ...]
    confidence: float
    entity_ids: tuple[str, ...]
    """Distinct, the owner of the page first."""
    has_file_date: bool = False
    """Whether `date` is that of the file, because neither the line nor the page has one."""


def read_claims(index: OpenIndex, root: Path) -> tuple[Claim, ...]:
    """Return all claims of the base, of any status, sorted by page and line."""
    table = index.reader.rows("facts", FACT_COLUMNS, "kind = 'fact'")
    facts = sorted(map(fact_from_row, table.to_pylist()), key=lambda fact: (fact.path, fact.line))
    pages = _pages(index, {fact.path for fact in facts})
    snapshot = index.generation().snapshot
    resolver = EntityResolver.looking_up(snapshot.names.with_key)
    ids = [entity.id for entity in snapshot.entities]
    about = {path: _about_page(resolver, page) for path, page in pages.items()}
    undated = {path for path, page in pages.items() if not page["date"]}
    dates = {path: page["date"] or _day_of_file(root / path) for path, page in pages.items()}
    claims = (
        _claim(fact, ids, resolver, about.get(fact.path, ()), dates.get(fact.path, ""))
        for fact in facts
    )
    return tuple(
        replace(claim, has_file_date=True)
        if claim.path in undated and not _states_date(fact)
        else claim
        for fact, claim in zip(facts, claims, strict=True)
    )


def _states_date(fact: Fact) -> bool:
    confirmed = _CONFIRMED.search(fact.text)
    return bool(fact.date or (confirmed and iso_date(confirmed[1])))


def _claim(
    fact: Fact, ids: Sequence[str], resolver: EntityResolver, page: Sequence[int], page_date: str
) -> Claim:
    confirmed = _CONFIRMED.search(fact.text)
    linked = [row for source in fact.sources for row in resolver.by_reference(source)]
    others = (ids[row] for row in (*page, *linked))
    return Claim(
        fact_id=fact.fact_id,
        text=_CONFIRMED.sub("", fact.text),
        status=fact.status,
        date=(iso_date(confirmed[1]) if confirmed else "") or fact.date or page_date,
        path=fact.path,
        line=fact.line,
        sources=fact.sources,
        confidence=fact.confidence,
        entity_ids=tuple(dict.fromkeys((fact.entity_id, *others))),
    )


def _pages(index: OpenIndex, paths: set[str]) -> dict[str, Mapping[str, Any]]:
    if not paths:
        return {}
    columns = ["path", "date", "frontmatter", "attendees"]
    table = index.reader.rows("documents", columns, is_one_of("path", sorted(paths)))
    return {row["path"]: row for row in table.to_pylist()}


def _about_page(resolver: EntityResolver, page: Mapping[str, Any]) -> list[int]:
    """Return the rows of the entities that frontmatter names as participants.

    A person's team is one, since facts about people are about their team; `reports_to` is not.
    """
    fields: Mapping[str, Any] = msgspec.json.decode(page["frontmatter"])
    named = [
        row
        for key, value in fields.items()
        if str(key).casefold() in _ABOUT
        for name in _names(value)
        for row in resolver.by_reference(name)
    ]
    attendees = attendees_from(page["attendees"])
    present = [row for attendee in attendees for row in resolver.by_attendee(attendee)]
    return [*named, *present]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _BRACKETS.findall(value) or [value]
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _day_of_file(file: Path) -> str:
    try:
        modified = file.stat().st_mtime
    except OSError:  # deleted since it was indexed
        return ""
    return datetime.fromtimestamp(modified, UTC).date().isoformat()
