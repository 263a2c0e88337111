"""What counts as a claim, and whom it is about: every fact line with all its entities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.rows import FACT_COLUMNS, attendees_from, fact_from_row
from kbx_tui.knowledge.entities.entity_resolver import Lookup
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.records import Fact, FactStatus
from kbx_tui.search.open_index import OpenIndex

_CONFIRMED = re.compile(
    r"\s*[(\[]?\bconfirmed(?: on)?\s*::?\s*(\d{4}-\d{2}-\d{2})[)\]]?", re.IGNORECASE
)
_BRACKETS = re.compile(r"!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_ABOUT = frozenset(
    {"person", "people", "project", "projects", "team", "teams", "entity", "entities"}
    | {"lead", "leads", "owner", "owners"}
)
"""Keys of a page's frontmatter that name whom all of its facts are about as well."""

NOT_LIVE: frozenset[FactStatus] = frozenset({"superseded", "archived", "redacted"})


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact line and all whom it is about."""

    fact_id: int
    text: str
    """Without its `confirmed:` note."""
    status: FactStatus
    date: str
    """ISO day it was last confirmed, else its own, its document's, its file's; empty for none."""
    path: str
    line: int
    sources: tuple[str, ...]
    confidence: float
    entity_ids: tuple[str, ...]
    """The owner of the page first, each once."""

    @property
    def is_live(self) -> bool:
        """False for what no longer stands: superseded, archived, redacted."""
        return self.status not in NOT_LIVE


def read_claims(index: OpenIndex, root: Path) -> tuple[Claim, ...]:
    """Return all claims of the base, whatever their status, by page and line."""
    found = index.reader.rows("facts", FACT_COLUMNS, "kind = 'fact'")
    facts = sorted(map(fact_from_row, found.to_pylist()), key=lambda fact: (fact.path, fact.line))
    pages = _pages(index, {fact.path for fact in facts})
    snapshot = index.loaded().snapshot
    lookup = Lookup(snapshot.entities)
    ids = [entity.id for entity in snapshot.entities]
    about = {path: _about_page(lookup, page) for path, page in pages.items()}
    dates = {path: page["date"] or _day_of_file(root / path) for path, page in pages.items()}
    return tuple(
        _claim(fact, ids, lookup, about.get(fact.path, ()), dates.get(fact.path, ""))
        for fact in facts
    )


def _claim(
    fact: Fact, ids: Sequence[str], lookup: Lookup, page: Sequence[int], page_date: str
) -> Claim:
    confirmed = _CONFIRMED.search(fact.text)
    linked = [at for source in fact.sources for at in lookup.target(source)]
    others = (ids[at] for at in (*page, *linked))
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
    listed = ", ".join(map(quoted, sorted(paths)))
    columns = ["path", "date", "frontmatter", "attendees"]
    found = index.reader.rows("documents", columns, f"path IN ({listed})")
    return {row["path"]: row for row in found.to_pylist()}


def _about_page(lookup: Lookup, page: Mapping[str, Any]) -> list[int]:
    """Return whom frontmatter names as taking part; `reports_to` and the like say something else.

    The team a person belongs to is among them: what is known of its people is known of a team.
    """
    fields: Mapping[str, Any] = msgspec.json.decode(page["frontmatter"])
    named = [
        at
        for key, value in fields.items()
        if str(key).casefold() in _ABOUT
        for name in _names(value)
        for at in lookup.target(name)
    ]
    present = [at for one in attendees_from(page["attendees"]) for at in lookup.attendee(one)]
    return [*named, *present]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _BRACKETS.findall(value) or [value]
    elif isinstance(value, list):
        for one in value:
            yield from _names(one)


def _day_of_file(file: Path) -> str:
    try:
        written = file.stat().st_mtime
    except OSError:  # gone since it was indexed
        return ""
    return datetime.fromtimestamp(written, UTC).date().isoformat()
